//! The addresses of this machine with their masks, as the kernel tells them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// All of them; none if the kernel does not tell.
#[must_use]
pub fn interfaces() -> Vec<(IpAddr, IpAddr)> {
    let mut out = Vec::new();
    let mut first: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: getifaddrs writes the head of a list that is ours until freeifaddrs, or fails.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return out;
    }
    let mut next = first;
    // SAFETY: `next` is null or an entry of the list, which is not freed yet.
    while let Some(entry) = unsafe { next.as_ref() } {
        // SAFETY: both are null or point to socket addresses that live as long as the list.
        let (address, mask) = unsafe { (address(entry.ifa_addr), address(entry.ifa_netmask)) };
        if let (Some(address), Some(mask)) = (address, mask) {
            out.push((address, mask));
        }
        next = entry.ifa_next;
    }
    // SAFETY: the list came from getifaddrs, and nothing of it is used any more.
    unsafe { libc::freeifaddrs(first) };
    out
}

/// # Safety
/// The pointer is null, or points to a socket address as long as its family says.
unsafe fn address(of: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: by the contract; every socket address begins with its family.
    let family = unsafe { of.as_ref() }?.sa_family;
    match i32::from(family) {
        libc::AF_INET => {
            // SAFETY: the family says that it is one of IPv4; it may lie unaligned.
            let v4 = unsafe { of.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(IpAddr::V4(Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr))))
        }
        libc::AF_INET6 => {
            // SAFETY: the family says that it is one of IPv6; it may lie unaligned.
            let v6 = unsafe { of.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(IpAddr::V6(Ipv6Addr::from(v6.sin6_addr.s6_addr)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn loopback_is_among_them() {
        assert!(super::interfaces().iter().any(|(address, _)| address.is_loopback()));
    }
}
