//! stub
use crate::failure::Result;
use crate::repo::Repo;
/// t
pub fn run(_repo: &Repo, _: &[String]) -> Result<()> {
    Ok(())
}
