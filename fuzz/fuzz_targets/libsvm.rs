#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rosenblatt_fuzz::checks::libsvm::check_some(data));
