//! What rules of hosts ask of the machine: names of addresses, and of users.

use std::ffi::CStr;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use stoa_auth::hosts::{Around, interfaces};
use stoa_engine::Database;

/// The roles, the resolver and the interfaces. A resolver may take seconds.
pub(super) struct Environment<'a> {
    pub(super) database: &'a Database,
}

impl Around for Environment<'_> {
    fn is_member(&self, role: &str, group: &str) -> bool {
        self.database.is_member(role, group)
    }

    fn name_of(&self, address: IpAddr) -> Option<String> {
        name_of(address)
    }

    fn addresses_of(&self, name: &str) -> Vec<IpAddr> {
        (name, 0).to_socket_addrs().map(|found| found.map(|address| address.ip()).collect()).unwrap_or_default()
    }

    fn interfaces(&self) -> Vec<(IpAddr, IpAddr)> {
        interfaces()
    }
}

fn name_of(address: IpAddr) -> Option<String> {
    let mut storage: libc::sockaddr_in6 = unsafe_zeroed();
    let length = match SocketAddr::new(address, 0) {
        SocketAddr::V4(v4) => {
            let of = libc::sockaddr_in {
                sin_family: u16::try_from(libc::AF_INET).ok()?,
                sin_port: 0,
                sin_addr: libc::in_addr { s_addr: u32::from(*v4.ip()).to_be() },
                sin_zero: [0; 8],
            };
            // SAFETY: an address of IPv4 is smaller than one of IPv6, and both are plain numbers.
            unsafe { (&raw mut storage).cast::<libc::sockaddr_in>().write(of) };
            size_of::<libc::sockaddr_in>()
        }
        SocketAddr::V6(v6) => {
            storage.sin6_family = u16::try_from(libc::AF_INET6).ok()?;
            storage.sin6_addr.s6_addr = v6.ip().octets();
            size_of::<libc::sockaddr_in6>()
        }
    };
    let mut name: [libc::c_char; 1025] = [0; 1025];
    // SAFETY: the address is as long as is said, the room for the name too, and no service is asked for.
    let failed = unsafe {
        libc::getnameinfo(
            (&raw const storage).cast(),
            u32::try_from(length).ok()?,
            name.as_mut_ptr(),
            u32::try_from(name.len()).ok()?,
            std::ptr::null_mut(),
            0,
            libc::NI_NAMEREQD,
        )
    };
    if failed != 0 {
        return None;
    }
    // SAFETY: the call has succeeded, so the name ends with a zero byte.
    Some(unsafe { CStr::from_ptr(name.as_ptr()) }.to_str().ok()?.to_owned())
}

fn unsafe_zeroed() -> libc::sockaddr_in6 {
    // SAFETY: it is made of numbers, for which zero is a value.
    unsafe { std::mem::zeroed() }
}

/// The name of a user of the system.
#[must_use]
pub fn user_name(uid: u32) -> Option<String> {
    let mut room = vec![0; 1 << 10];
    loop {
        // SAFETY: it is made of numbers and pointers, for which zero is a value.
        let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
        let mut found = std::ptr::null_mut();
        // SAFETY: all of it is ours, and the room as large as is said.
        let failed = unsafe { libc::getpwuid_r(uid, &raw mut entry, room.as_mut_ptr(), room.len(), &raw mut found) };
        if failed == libc::ERANGE && room.len() < 1 << 20 {
            room.resize(room.len() * 2, 0);
            continue;
        }
        if failed != 0 || found.is_null() {
            return None;
        }
        // SAFETY: the entry was found, so its name points to a string in the room.
        return Some(unsafe { CStr::from_ptr(entry.pw_name) }.to_str().ok()?.to_owned());
    }
}

/// The name of the user who runs this process.
#[must_use]
pub fn own_user_name() -> Option<String> {
    // SAFETY: it only tells who runs this process, and cannot fail.
    user_name(unsafe { libc::geteuid() })
}

#[cfg(test)]
mod tests {
    use super::{own_user_name, user_name};

    #[test]
    fn users_have_names() {
        assert_eq!(user_name(0).as_deref(), Some("root"));
        assert!(own_user_name().is_some());
        assert_eq!(user_name(u32::MAX - 7), None);
    }
}
