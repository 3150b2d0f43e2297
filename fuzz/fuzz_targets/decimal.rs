#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| rosenblatt_fuzz::checks::decimal::check(data));
