//! The messages of `contract/echo.proto`.

include!("../../../generated/echo.rs");
