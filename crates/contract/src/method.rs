//! Methods, independent of the protocol.

/// The method named by a call. In gRPC the path of [`Method::Text`] is `/rpcbench.v1.Echo/Text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Takes texts.
    Text,
    /// Takes records.
    Record,
    /// Takes dtos.
    Dto,
    /// Takes trees.
    Tree,
    /// A method that the service does not have.
    Missing,
    /// A method of a service that does not exist.
    MissingService,
}

impl Method {
    /// The methods that the service has.
    pub const SERVED: [Self; 4] = [Self::Text, Self::Record, Self::Dto, Self::Tree];

    /// Full name of the service: `rpcbench.v1.Echo`.
    pub fn service(self) -> &'static str {
        match self {
            Self::MissingService => "rpcbench.v1.Missing",
            _ => "rpcbench.v1.Echo",
        }
    }

    /// Name within the service: `Text`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text | Self::MissingService => "Text",
            Self::Record => "Record",
            Self::Dto => "Dto",
            Self::Tree => "Tree",
            Self::Missing => "Missing",
        }
    }
}
