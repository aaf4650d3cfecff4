use super::connect;
use crate::util::trim;

pub fn get(url: &str) -> String {
    let connection = connect(url);
    trim(&connection)
}
