//! Texts cut into words.

/// Calls `f` with each word of `text`: maximal runs of letters and digits, in lower case.
pub(crate) fn for_each_word(text: &str, word: &mut String, mut f: impl FnMut(&str)) {
    word.clear();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        } else if !c.is_ascii() && c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        } else if !word.is_empty() {
            f(word);
            word.clear();
        }
    }
    if !word.is_empty() {
        f(word);
        word.clear();
    }
}

/// The number of words in `text`.
pub(crate) fn count_words(text: &str) -> u64 {
    let mut count = 0;
    for_each_word(text, &mut String::new(), |_| count += 1);
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        let mut words = Vec::new();
        for_each_word("Don't  PAY £1,000 to Élan_x!", &mut String::new(), |w| {
            words.push(w.to_owned())
        });
        assert_eq!(words, ["don", "t", "pay", "1", "000", "to", "élan", "x"]);
        assert_eq!(count_words(" .. "), 0);
    }
}
