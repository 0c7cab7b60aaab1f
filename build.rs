//! Lets the built programs find `libz3.so` in the checkout without any environment variable.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=Z3_LIBRARY_PATH_OVERRIDE");
    if std::env::var_os("CARGO_FEATURE_SMT").is_some()
        && let Ok(directory) = std::env::var("Z3_LIBRARY_PATH_OVERRIDE")
    {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{directory}");
    }
}
