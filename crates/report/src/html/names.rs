//! Names of figures in words, as readers of the page need not know the keys of exports and records.

use crate::catalog::{FIGURES, Figure};

/// The title of a figure's column, or its key in words: `connect mean`, `calls/s, low`.
pub(super) fn title(figure: &Figure) -> String {
    figure.column.map_or_else(|| words(figure.key), |column| column.title.to_owned())
}

/// The meaning, without keys and code marks.
pub(super) fn meaning(figure: &Figure) -> String {
    figure.meaning.split('`').map(named).collect()
}

/// The title of the figure if the text is its key, or else the text.
pub(super) fn named(text: &str) -> String {
    let is_key = |figure: &&Figure| figure.key == text && text.contains('_');
    let found = FIGURES.iter().find(is_key);
    found.map_or_else(|| text.to_owned(), title)
}

fn words(key: &str) -> String {
    for end in ["low", "high"] {
        let of = key.strip_suffix(end).and_then(|rest| rest.strip_suffix('_'));
        if let Some(of) = of {
            let base = FIGURES.iter().find(|figure| figure.key == of);
            return format!("{}, {end}", base.map_or_else(|| words(of), title));
        }
    }
    let bare = key.replace("_per_s", "/s");
    let bare = ["_ns", "_ms", "_s", "_bytes", "_share"]
        .iter()
        .find_map(|unit| bare.strip_suffix(unit))
        .unwrap_or(&bare);
    let spelled = |word| match word {
        "cpu" => "CPU",
        "gc" => "GC",
        "id" => "ID",
        word => word,
    };
    bare.split('_').map(spelled).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_shown_in_words() {
        let shown = [
            "connect_mean_ns",
            "server_cpu_user_s",
            "calls_per_s_low",
            "ranked_own_per_s_high",
            "gc_pauses",
            "allocated_bytes_per_s",
            "run_id",
        ];
        insta::assert_snapshot!(shown.map(named).join("\n"), @r"
        connect mean
        server CPU user
        calls/s, low
        ranked own/s, high
        GC pauses
        allocated bytes/s
        run ID
        ");
    }

    #[test]
    fn no_title_or_meaning_has_a_key_or_an_option() {
        for figure in FIGURES {
            for text in [title(figure), meaning(figure)] {
                assert!(!text.contains(['_', '`']) && !text.contains("--"), "{text}");
            }
        }
    }
}
