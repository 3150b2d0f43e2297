//! What is said when a file is made shorter while it is read.
//!
//! Files are read where they lie. What lay behind a new end can no longer be read, and nothing
//! can be done about it: the system raises a signal that would end the program without a word.

/// Has that signal end the program with an error like any other.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // There is no other way to hear of it.
pub(crate) fn say_so() {
    extern "C" fn end(_: libc::c_int) {
        const WORDS: &[u8] = b"error: a file was made shorter while it was read; \
            start again once nobody writes to it\n";
        // SAFETY: the words are as many bytes as they are, and a handler may call both.
        unsafe {
            libc::write(libc::STDERR_FILENO, WORDS.as_ptr().cast(), WORDS.len());
            libc::_exit(1);
        }
    }
    let end: extern "C" fn(libc::c_int) = end;
    // SAFETY: the handler does nothing that a handler may not do. Stacks that overflow, which the
    // standard library also looks out for, raise another signal here.
    unsafe {
        libc::signal(libc::SIGBUS, end as libc::sighandler_t);
    }
}

/// Elsewhere the system says something, or overflowing stacks raise the same signal.
#[cfg(not(target_os = "linux"))]
pub(crate) fn say_so() {}
