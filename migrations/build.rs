//! Rebuilds this crate when a migration is added. The macro that embeds the migrations does not notice new files.

fn main() {
    println!("cargo:rerun-if-changed=sql");
}
