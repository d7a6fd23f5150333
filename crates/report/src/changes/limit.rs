//! Limits on changes: `calls_per_server_cpu_s<-5%`.

use std::fmt;
use std::str::FromStr;

use rpcbench_record::ParseError;
use rpcbench_stats::Range;

use super::words::change_near;
use super::{Change, ComparedFigure};

/// The largest accepted change of a figure in one direction.
///
/// Written as in `calls_per_server_cpu_s<-5%`, `p99_ns>+10%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeLimit {
    /// The figure.
    pub figure: ComparedFigure,
    /// True for a limit on a rise, false for a fall.
    rise: bool,
    /// At least 0.
    percent: f64,
}

impl ChangeLimit {
    /// True if a change is certain and its estimate exceeds the limit.
    pub fn is_exceeded_by(&self, row: &Change) -> bool {
        let sure = match self.rise {
            true => row.finding.is_faster(),
            false => row.finding.is_slower(),
        };
        let beyond = if self.rise { row.ratio > self.ratio() } else { row.ratio < self.ratio() };
        row.figure == self.figure && sure && beyond
    }

    /// A change with enough digits to show on which side of the limit it is: `+10.3 %`.
    pub fn show(&self, row: &Change) -> String {
        change_near(row.ratio, &[self.ratio()])
    }

    /// The largest accepted change, as a share.
    pub(super) fn share(&self) -> f64 {
        self.percent / 100.0
    }

    /// The smallest change in the limit's direction that could be detected with this range, as a share.
    pub(super) fn min_detectable(&self, ratio: f64, range: Range) -> f64 {
        if self.rise { range.high / ratio - 1.0 } else { ratio / range.low - 1.0 }
    }

    fn ratio(&self) -> f64 {
        let change = if self.rise { self.percent } else { -self.percent };
        1.0 + change / 100.0
    }
}

impl fmt::Display for ChangeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.rise { ">+" } else { "<-" };
        f.pad(&format!("{}{sign}{}%", self.figure, self.percent))
    }
}

impl FromStr for ChangeLimit {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let form = || {
            ParseError(format!(
                "'{text}' is not a limit; write FIGURE<-SHARE or FIGURE>+SHARE, such as 'calls_per_server_cpu_s<-5%' or \
                 'p99_ns>+10%'"
            ))
        };
        let at = text.find(['<', '>']).ok_or_else(form)?;
        let (figure, rest) = text.split_at(at);
        let rise = rest.starts_with('>');
        let percent = rest[1..].trim();
        let percent = percent.strip_prefix(if rise { '+' } else { '-' }).ok_or_else(form)?;
        let percent = percent.strip_suffix('%').ok_or_else(form)?.trim();
        let percent: f64 = percent.parse().map_err(|_| form())?;
        if !(0.0..1000.0).contains(&percent) || !rise && percent >= 100.0 {
            return Err(form());
        }
        let figure = figure.parse::<ComparedFigure>();
        let figure = figure.map_err(|problem| ParseError(format!("'{text}': {problem}")))?;
        Ok(Self { figure, rise, percent })
    }
}

#[cfg(test)]
mod tests {
    use rpcbench_stats::Finding;

    use super::*;

    fn row(ratio: f64, finding: Finding) -> Change {
        Change {
            workload: "quick".to_owned(),
            entry: "go-grpc".to_owned(),
            figure: "p99_ns".parse().unwrap(),
            old: 1.0,
            new: ratio,
            compared: [1.0, ratio],
            corrected: false,
            ratio,
            range: None,
            finding,
        }
    }

    #[test]
    fn limit_is_exceeded_only_by_sure_change() {
        let limit: ChangeLimit = "p99_ns > +10%".parse().unwrap();
        assert!(limit.is_exceeded_by(&row(1.11, Finding::Faster)));
        assert!(!limit.is_exceeded_by(&row(1.09, Finding::Faster)));
        assert!(!limit.is_exceeded_by(&row(1.5, Finding::Open)));
        assert!(!limit.is_exceeded_by(&row(0.5, Finding::Slower)));
        let limit: ChangeLimit = "p99_ns<-0%".parse().unwrap();
        assert!(limit.is_exceeded_by(&row(0.99, Finding::SlightlySlower)));
        let other: ChangeLimit = "p50_ns<-0%".parse().unwrap();
        assert!(!other.is_exceeded_by(&row(0.99, Finding::Slower)));
    }

    #[test]
    fn printed_change_is_beyond_exceeded_limit() {
        let limit: ChangeLimit = "p99_ns>+10%".parse().unwrap();
        let shown = |ratio| limit.show(&row(ratio, Finding::Faster));
        assert_eq!([shown(1.1003), shown(1.0996), shown(1.25)], ["+10.03 %", "+9.96 %", "+25 %"]);
        let limit: ChangeLimit = "p99_ns<-5%".parse().unwrap();
        assert_eq!(limit.show(&row(0.94996, Finding::Slower)), "-5.004 %");
    }

    #[test]
    fn change_limits_round_trip_as_text() {
        for text in ["calls_per_s<-5%", "p99_ns>+10%", "memory_peak_bytes>+2.5%", "p50_ns>+7%"] {
            let limit: ChangeLimit = text.parse().unwrap();
            assert_eq!(limit.to_string(), text);
        }
    }

    #[test]
    fn invalid_change_limit_is_refused_with_form() {
        for text in [
            "",
            "p99_ns",
            "p99_ns<5%",
            "p99_ns>-5%",
            "p99_ns<-5",
            "p99_ns<-x%",
            "p99_ns<-100%",
            "p99_ns>+nan%",
        ] {
            let error = text.parse::<ChangeLimit>().unwrap_err();
            assert!(error.to_string().starts_with(&format!("'{text}' is not a limit; write ")));
        }
        let error = "cost<-5%".parse::<ChangeLimit>().unwrap_err().to_string();
        assert!(error.starts_with("'cost<-5%': unknown figure 'cost'; expected one of "));
    }
}
