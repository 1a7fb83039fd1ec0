//! Gives the program the profile that it is built with, as `AKHAR_BENCH_BUILD`, for the reports.

use std::{env, fs, path::Path};

/// The settings that decide on the speed, with cargo's defaults for `dev` and `release`.
const SETTINGS: [(&str, &str, &str); 3] =
    [("opt-level", "0", "3"), ("lto", "false", "false"), ("codegen-units", "256", "16")];

fn main() {
    let manifest = "../Cargo.toml";
    println!("cargo::rerun-if-changed={manifest}");
    let profiles: toml::Table = fs::read_to_string(manifest).expect("the workspace").parse().expect("TOML");
    // OUT_DIR is target/<folder of the profile>/build/<package>/out.
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let folder = Path::new(&out).ancestors().nth(3).and_then(|folder| folder.file_name()?.to_str());
    let name = match folder.expect("a folder for each profile") {
        "debug" => "dev",
        name => name,
    };
    let settings = SETTINGS.map(|(setting, dev, release)| {
        let variable =
            |name: &str| format!("CARGO_PROFILE_{name}_{setting}").replace('-', "_").to_uppercase();
        println!("cargo::rerun-if-env-changed={}", variable(name));
        let value = env::var(variable(name)).ok().or_else(|| of_profile(&profiles, name, setting));
        let default = if name == "dev" { dev } else { release };
        format!("{setting} {}", value.unwrap_or_else(|| default.to_owned()))
    });
    println!("cargo::rustc-env=AKHAR_BENCH_BUILD=profile {name} ({})", settings.join(", "));
}

/// A setting of a profile, or of the one that it inherits from.
fn of_profile(manifest: &toml::Table, name: &str, setting: &str) -> Option<String> {
    let profile = manifest.get("profile")?.get(name)?;
    match profile.get(setting) {
        Some(toml::Value::String(value)) => Some(value.clone()),
        Some(value) => Some(value.to_string()),
        None => of_profile(manifest, profile.get("inherits")?.as_str()?, setting),
    }
}
