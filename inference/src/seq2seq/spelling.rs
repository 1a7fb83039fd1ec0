//! Says whether a word sounds as a word in the other script, such as a name: by its consonants, in order. The scripts write
//! vowels, h and y too differently to compare them.

/// The consonants of a word, as sets of what each may sound like.
#[derive(Debug, Clone)]
pub(super) struct Spelling(Vec<u32>);

/// Where in a [`Spelling`] the letters so far may have led: a bit for each number of consonants.
#[derive(Debug, Clone, Copy)]
pub(super) struct Positions(u64);

impl Positions {
    /// Whether a word can still become one that sounds so.
    pub(super) fn is_possible(self) -> bool {
        self.0 != 0
    }
}

const K: u32 = 1;
const G: u32 = 1 << 1;
const C: u32 = 1 << 2;
const J: u32 = 1 << 3;
const T: u32 = 1 << 4;
const D: u32 = 1 << 5;
const N: u32 = 1 << 6;
const P: u32 = 1 << 7;
const F: u32 = 1 << 8;
const B: u32 = 1 << 9;
const M: u32 = 1 << 10;
const R: u32 = 1 << 11;
const L: u32 = 1 << 12;
const V: u32 = 1 << 13;
const S: u32 = 1 << 14;
/// The s of a plural.
const PLURAL: u32 = 1 << 15;
/// What need not be heard: nasal vowels, w beside a vowel, the s of a plural.
const SILENT: u32 = 1 << 16;

/// A word with more is not compared.
const MOST_SOUNDS: usize = 40;
/// A word with fewer would sound like too many others.
const FEWEST_SOUNDS: usize = 2;

/// What a letter of either script may sound like; nothing if it is not compared.
fn sounds(c: char) -> &'static [u32] {
    match c {
        'k' | 'q' | 'ਕ' | 'ਖ' => &[K],
        'g' => &[G | J],
        'ਗ' | 'ਘ' => &[G],
        'c' => &[K | S | C],
        'ਚ' | 'ਛ' => &[C],
        'j' | 'ਜ' | 'ਝ' => &[J],
        't' => &[T | C],
        'ਟ' | 'ਠ' | 'ਤ' | 'ਥ' => &[T],
        'd' => &[D | J],
        'ਡ' | 'ਢ' | 'ਦ' | 'ਧ' => &[D],
        'n' | 'ਣ' | 'ਨ' | 'ਙ' | 'ਞ' => &[N],
        'ੰ' | 'ਂ' => &[N | M | SILENT],
        'p' => &[P | F],
        'ਪ' => &[P],
        'f' => &[F],
        'ਫ' => &[F | P],
        'b' | 'ਬ' | 'ਭ' => &[B],
        'm' => &[M | N],
        'ਮ' => &[M],
        'r' | 'ਰ' => &[R],
        'ੜ' => &[R | D],
        'l' | 'ਲ' => &[L],
        'v' => &[V],
        'w' | 'ਵ' => &[V | SILENT],
        's' => &[S | J | PLURAL],
        'ਸ' => &[S | PLURAL],
        'z' => &[J | S],
        'x' => &[K | G, S | J],
        _ => &[],
    }
}

impl Spelling {
    /// The spelling of a word; `None` of one with too few consonants, or very many.
    pub(super) fn of(word: &str) -> Option<Self> {
        let mut found: Vec<u32> =
            word.chars().flat_map(char::to_lowercase).flat_map(sounds).copied().collect();
        found.dedup();
        // One language has a plural with an s, and the other does not.
        match found.last_mut() {
            Some(last) if word.ends_with('s') => *last |= SILENT,
            _ => found.push(PLURAL | SILENT),
        }
        let n_heard = found.iter().filter(|sound| *sound & SILENT == 0).count();
        let is_compared = n_heard >= FEWEST_SOUNDS && found.len() <= MOST_SOUNDS;
        is_compared.then_some(Self(found))
    }

    /// Where a word begins.
    pub(super) fn start(&self) -> Positions {
        self.past_silent(Positions(1))
    }

    /// Where a letter, in small, leads. Letters that sound alike may stand twice.
    pub(super) fn after(&self, positions: Positions, c: char) -> Positions {
        sounds(c).iter().fold(positions, |Positions(at), sound| {
            let mut next = if sound & SILENT == 0 { 0 } else { at };
            for n in (0..self.0.len()).filter(|n| self.0[*n] & sound & !SILENT != 0) {
                next |= ((at & (1 << n)) << 1) | (at & (1 << (n + 1)));
            }
            self.past_silent(Positions(next))
        })
    }

    /// Whether a word at these positions sounds as this one and ends.
    pub(super) fn is_whole(&self, positions: Positions) -> bool {
        positions.0 & (1 << self.0.len()) != 0
    }

    /// The positions, and those behind the silent sounds that follow.
    fn past_silent(&self, Positions(mut at): Positions) -> Positions {
        for n in (0..self.0.len()).filter(|n| self.0[*n] & SILENT != 0) {
            at |= (at & (1 << n)) << 1;
        }
        Positions(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sounds_as(word: &str, other: &str) -> bool {
        let spelling = Spelling::of(other).unwrap();
        let at =
            word.chars().flat_map(char::to_lowercase).fold(spelling.start(), |at, c| spelling.after(at, c));
        spelling.is_whole(at)
    }

    #[test]
    fn a_name_sounds_alike_in_both_scripts() {
        for (en, pa) in [
            ("Gurmanjot", "ਗੁਰਮਨਜੋਤ"),
            ("Papanasanathar", "ਪਾਪਨਾਸਨਾਥਰ"),
            ("Onchocerciasis", "ਓਂਕੋਸੀਰਸੀਆਸਿਸ"),
            ("Alexander", "ਅਲੈਗਜ਼ੈਂਡਰ"),
            ("Gaddafi", "ਗੱਦਾਫ਼ੀ"),
            ("Khansi", "ਖਾਂਸੀ"),
            ("propellants", "ਪ੍ਰੋਪੈਲੈਂਟ"),
            ("Power", "ਪਾਵਰ"),
        ] {
            assert!(sounds_as(en, pa) && sounds_as(pa, en), "{en} {pa}");
        }
    }

    #[test]
    fn another_word_does_not() {
        for (en, pa) in [("danged", "ਡੰਗ"), ("Hoshed", "ਹੋਸ਼"), ("kised", "ਕਿਸੇ"), ("theheb", "ਸਾਹਿਬ")]
        {
            assert!(Spelling::of(pa).is_none() || !sounds_as(en, pa), "{en} {pa}");
        }
        assert!(Spelling::of("ਈਵਾ").is_none() && Spelling::of("the").is_none());
        assert!(Spelling::of(&"ਕਮਲ".repeat(40)).is_none());
    }
}
