//! Who runs a command, as the audit trail names them.

use akhar_operators::Actor;
use akhar_platform::host;

/// The user and the machine of this process, such as `asha@db1`.
pub(crate) fn of_command() -> Actor {
    let id = rustix::process::getuid().as_raw();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let user = name_of(id, &users).map_or_else(|| format!("uid {id}"), str::to_owned);
    Actor::of_command(format!("{user}@{}", host::name()))
}

/// The name of a user in the lines of `/etc/passwd`.
fn name_of(id: u32, users: &str) -> Option<&str> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(id)).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_its_id() {
        let users = "root:x:0:0:root:/:/bin/sh\n\nodd\nasha:x:1000:1000::/home/asha:/bin/sh\n";
        assert_eq!(name_of(0, users), Some("root"));
        assert_eq!(name_of(1000, users), Some("asha"));
        assert_eq!(name_of(1, users), None);
    }
}
