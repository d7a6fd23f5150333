//! TLS errors in words.

use std::fmt::{self, Debug, Display, Formatter};
use std::io;
use std::net::IpAddr;

use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible};

const NO_COMMON_PROTOCOL: &str = "the server speaks none of the offered protocols (ALPN): h2 for gRPC and HTTP/2 (--http 2), http/1.1 for others, \
     unless --alpn says otherwise";

const TRUST: &str = "name its authority with --cacert, or the certificate itself if it is self-signed without CA:TRUE";

/// Why a TLS connection failed. Its text begins with `TLS: `.
#[derive(Clone, Debug, PartialEq)]
pub enum TlsError {
    /// The handshake or a record failed.
    Session(Error),
    /// The peer closed the connection during the handshake.
    Closed,
    /// The time ran out before the handshake was done.
    Unfinished,
    /// The server chose no protocol by ALPN, and HTTP/2 needs one.
    NoAlpn,
}

impl TlsError {
    /// True if `error` wraps a `TlsError`.
    pub fn is_in(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<Self>())
    }

    /// True if the error shows that the server speaks TLS: it sent an alert, or a handshake that is refused here.
    pub fn shows_tls(error: &io::Error) -> bool {
        let problem = error.get_ref().and_then(|inner| inner.downcast_ref());
        matches!(
            problem,
            Some(
                Self::NoAlpn
                    | Self::Session(
                        Error::AlertReceived(_)
                            | Error::InvalidCertificate(_)
                            | Error::PeerIncompatible(_)
                    )
            )
        )
    }
}

impl From<Error> for TlsError {
    fn from(error: Error) -> Self {
        Self::Session(error)
    }
}

impl From<TlsError> for io::Error {
    fn from(error: TlsError) -> Self {
        Self::other(error)
    }
}

impl std::error::Error for TlsError {}

impl Display for TlsError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("TLS: ")?;
        let error = match self {
            Self::Session(error) => error,
            Self::Closed => {
                return f.write_str("the server closed the connection during the handshake");
            }
            Self::Unfinished => {
                return f.write_str(
                    "the handshake did not end in time; the server is too busy, or speaks no TLS on this port",
                );
            }
            Self::NoAlpn => {
                return f.write_str(
                    "the server does not choose a protocol (ALPN), so it may not speak HTTP/2; --alpn none goes on \
                     without",
                );
            }
        };
        match error {
            Error::InvalidCertificate(error) => certificate(f, error),
            Error::AlertReceived(alert) => received(f, *alert),
            Error::NoApplicationProtocol => f.write_str(NO_COMMON_PROTOCOL),
            Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
                f.write_str("the server does not speak TLS on this port; use http:// instead of https://, grpc:// instead of grpcs://, or omit --tls")
            }
            Error::InvalidMessage(InvalidMessage::HandshakePayloadTooLarge) => {
                f.write_str("the server sends a handshake message of more than 64 KiB")
            }
            Error::InvalidMessage(reason) => {
                write!(f, "the server breaks the protocol: {}", words(reason))
            }
            Error::PeerMisbehaved(reason) => {
                write!(f, "the server breaks the protocol: {}", words(reason))
            }
            Error::PeerIncompatible(reason) => incompatible(f, reason),
            other => write!(f, "{other}"),
        }
    }
}

fn certificate(f: &mut Formatter<'_>, error: &CertificateError) -> fmt::Result {
    match error {
        CertificateError::ExpiredContext { not_after, .. } => {
            write!(f, "the server's certificate expired on {}", date(*not_after))
        }
        CertificateError::NotValidYetContext { not_before, .. } => {
            write!(f, "the server's certificate is not valid before {}", date(*not_before))
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            write!(f, "the server's certificate is not for '{}'", expected.to_str())?;
            match presented.as_slice() {
                [] => f.write_str(", as it has no subject alternative name (its CN does not count)"),
                names => write!(f, ", but for {}", names.iter().map(|name| bare(name)).collect::<Vec<_>>().join(", ")),
            }
        }
        CertificateError::UnknownIssuer => {
            write!(f, "the server's certificate has an issuer that is not trusted; {TRUST}")
        }
        CertificateError::BadSignature
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => write!(
            f,
            "the server's certificate has an issuer that is not trusted: a trusted authority of the same name has another \
             key; {TRUST}. RSA keys of less than 2048 bits are not accepted, either"
        ),
        CertificateError::UnsupportedSignatureAlgorithmContext { .. } => f.write_str(
            "the server's certificate is signed by an algorithm that is not accepted, such as SHA-1; give it another, or \
             don't verify it (-k)",
        ),
        CertificateError::InvalidPurposeContext { presented, .. } => {
            let purposes: Vec<_> = presented.iter().map(ToString::to_string).collect();
            write!(f, "the server's certificate is not for servers, but for {}", purposes.join(", "))
        }
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => f.write_str(
            "the server's certificate is marked as an authority's (CA:TRUE), as self-signed ones often are, which is not \
             accepted of a server, even with --cacert; give the server one without CA:TRUE, or don't verify it (-k)",
        ),
        CertificateError::Other(other) => unverifiable(f, &format_args!("{other}")),
        other => unverifiable(f, other),
    }
}

fn unverifiable(f: &mut Formatter<'_>, reason: &impl Debug) -> fmt::Result {
    write!(f, "the server's certificate can't be verified: {}", words(reason))
}

/// The name in `DnsName("localhost")` or `IpAddress(127.0.0.1)`.
fn bare(presented: &str) -> String {
    let address = presented.strip_prefix("IpAddress(").and_then(|rest| rest.strip_suffix(')'));
    if let Some(address) = address {
        // An IPv6 address can be written in several ways.
        return address.parse().map_or_else(|_| address.to_owned(), |it: IpAddr| it.to_string());
    }
    presented.split('"').nth(1).unwrap_or(presented).to_owned()
}

/// Name of an error in words: `MissingData("ServerName")` as `missing data: server name`.
fn words(error: &impl Debug) -> String {
    let shown = format!("{error:?}");
    // The fields of a struct are numbers and bytes.
    let names = shown.split(['{', '[']).next().unwrap_or_default();
    let names = names.split(['(', ')', '"']).map(str::trim);
    names.filter(|name| !name.is_empty()).map(phrase).collect::<Vec<_>>().join(": ")
}

/// `TooManyEmptyFragments` as `too many empty fragments`.
fn phrase(name: &str) -> String {
    let mut phrase = String::new();
    let mut last = None::<char>;
    for letter in name.chars() {
        if letter.is_uppercase()
            && last.is_some_and(|last| last.is_lowercase() || last.is_ascii_digit())
        {
            phrase.push(' ');
        }
        phrase.extend(letter.to_lowercase());
        last = Some(letter);
    }
    phrase
}

fn received(f: &mut Formatter<'_>, alert: AlertDescription) -> fmt::Result {
    match alert {
        AlertDescription::CertificateRequired => {
            f.write_str("the server requires a client certificate; give --cert and --key")
        }
        AlertDescription::NoApplicationProtocol => f.write_str(NO_COMMON_PROTOCOL),
        AlertDescription::ProtocolVersion => {
            f.write_str("the server speaks none of the offered versions of TLS")
        }
        // Some servers refuse a missing certificate like this.
        AlertDescription::BadCertificate => write!(
            f,
            "the server does not accept the client certificate: alert {alert:?}; without --cert, it requires one"
        ),
        AlertDescription::UnknownCA
        | AlertDescription::CertificateExpired
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateUnknown
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::AccessDenied => {
            write!(f, "the server does not accept the client certificate: alert {alert:?}")
        }
        AlertDescription::HandshakeFailure => {
            f.write_str("the server finds no common cipher suite, or wants a client certificate: alert HandshakeFailure")
        }
        other => write!(f, "the server sent alert {other:?}"),
    }
}

fn incompatible(f: &mut Formatter<'_>, reason: &PeerIncompatible) -> fmt::Result {
    match reason {
        PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
        | PeerIncompatible::ServerDoesNotSupportTls12Or13 => {
            f.write_str("the server speaks none of the offered versions of TLS")
        }
        other => write!(f, "nothing in common with the server: {}", words(other)),
    }
}

/// A day as `2026-11-28`.
fn date(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(seconds)
        .map_or_else(|_| time.as_secs().to_string(), |at| at.strftime("%F").to_string())
}
