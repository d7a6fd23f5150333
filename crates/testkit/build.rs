//! Generates the messages of `contract/echo.proto`, on its own so that a mistake in the contract crate cannot hide itself here.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=../../contract/echo.proto");
    let files = protox::compile(["echo.proto"], ["../../contract"])?;
    prost_build::Config::new().compile_fds(files)?;
    Ok(())
}
