//! Rebuilds this crate when a migration is added: the macro that embeds them does not see new files.

fn main() {
    println!("cargo:rerun-if-changed=sql");
}
