//! Wraps the library's codec to mark the status of a reply that can't be decoded. Otherwise it could be a server's.

use std::{error::Error, fmt, sync::Arc};

use prost::Message;
use tonic::{
    Status,
    codec::{self, BufferSettings, DecodeBuf},
};
use tonic_prost::{ProstCodec, ProstDecoder, ProstEncoder};

pub struct Codec<T, U>(ProstCodec<T, U>);

impl<T, U> Default for Codec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    fn default() -> Self {
        Self(ProstCodec::default())
    }
}

impl<T, U> codec::Codec for Codec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = Decoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        self.0.encoder()
    }

    fn decoder(&mut self) -> Self::Decoder {
        Decoder(self.0.decoder())
    }
}

pub struct Decoder<U>(ProstDecoder<U>);

impl<U: Message + Default> codec::Decoder for Decoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        self.0.decode(buffer).map_err(|mut status| {
            status.set_source(Arc::new(Undecodable));
            status
        })
    }

    fn buffer_settings(&self) -> BufferSettings {
        self.0.buffer_settings()
    }
}

/// The source of the status of a call whose reply can't be decoded.
#[derive(Debug)]
pub struct Undecodable;

impl fmt::Display for Undecodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a reply that can't be decoded")
    }
}

impl Error for Undecodable {}
