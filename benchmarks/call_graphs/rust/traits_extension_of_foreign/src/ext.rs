pub trait StrExt {
    fn capitalized(&self) -> String;
    fn vowels(&self) -> usize;
}

impl StrExt for str {
    fn capitalized(&self) -> String {
        let (first, rest) = halves(self);
        first.to_uppercase() + rest
    }

    fn vowels(&self) -> usize {
        self.chars().filter(|c| is_vowel(*c)).count()
    }
}

fn halves(text: &str) -> (&str, &str) {
    text.split_at(1)
}

fn is_vowel(c: char) -> bool {
    "aeiou".contains(c)
}
