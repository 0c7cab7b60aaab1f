//! stub
use super::Picture;
/// e
#[derive(Debug, thiserror::Error)]
pub enum PageError {}
/// p
/// # Errors
/// no
pub fn page(_: &[Picture<'_>]) -> Result<String, PageError> {
    Ok(String::new())
}
