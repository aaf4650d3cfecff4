use crate::platform;

pub fn load() -> String {
    platform::name()
}
