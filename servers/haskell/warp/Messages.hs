{-# LANGUAGE DeriveGeneric #-}
{-# LANGUAGE DuplicateRecordFields #-}

-- | The contract's messages. In JSON, 64-bit integers are decimal strings, and bytes are base64.
module Messages
  ( TextRequest (..)
  , RecordRequest (..)
  , DtoRequest (..)
  , TreeRequest (..)
  , Reply (..)
  ) where

import Control.Monad (when)
import Data.Aeson
import Data.ByteString (ByteString)
import qualified Data.ByteString.Base64 as Base64
import Data.Int (Int32, Int64)
import Data.Map.Strict (Map)
import Data.Maybe (isJust)
import Data.Text (Text)
import qualified Data.Text as Text
import Data.Text.Encoding (decodeLatin1, encodeUtf8)
import Data.Text.Read (decimal, signed)
import Data.Word (Word64)
import GHC.Generics (Generic)

newtype TextRequest = TextRequest {text :: Text} deriving (Generic)

newtype RecordRequest = RecordRequest {record :: FlatRecord} deriving (Generic)

newtype DtoRequest = DtoRequest {dto :: PropertyDto} deriving (Generic)

newtype TreeRequest = TreeRequest {tree :: TreeNode} deriving (Generic)

newtype Reply a = Reply {echo :: a} deriving (Generic)

data FlatRecord = FlatRecord
  { field1 :: Text
  , field2 :: Int32
  , field3 :: Int32
  , field4 :: Text
  , field5 :: [Decimal Word64]
  , field6 :: Int32
  , field7 :: Text
  , field9 :: Text
  , field12 :: Bool
  , field13 :: Bool
  , field14 :: Bool
  , field16 :: Int32
  , field17 :: Bool
  , field18 :: Text
  , field22 :: Decimal Int64
  , field23 :: Int32
  , field24 :: Bool
  , field25 :: Int32
  , field29 :: Int32
  , field30 :: Bool
  , field59 :: Bool
  , field60 :: Int32
  , field67 :: Int32
  , field68 :: Int32
  , field78 :: Bool
  , field80 :: Bool
  , field81 :: Bool
  , field100 :: Int32
  , field101 :: Int32
  , field102 :: Text
  , field103 :: Text
  , field104 :: Int32
  , field128 :: Int32
  , field129 :: Text
  , field130 :: Int32
  , field131 :: Int32
  , field150 :: Int32
  , field271 :: Int32
  , field272 :: Int32
  , field280 :: Int32
  }
  deriving (Generic)

data PropertyDto = PropertyDto
  { prop1 :: Text
  , prop2 :: Text
  , prop3 :: Text
  , prop4 :: Int32
  , prop5 :: Int32
  , prop6 :: Int32
  , prop7 :: Double
  , prop8 :: Double
  , prop9 :: Double
  , prop10 :: Bool
  , prop11 :: Bool
  , prop12 :: Bool
  }
  deriving (Generic)

data Status = STATUS_UNSPECIFIED | STATUS_ACTIVE | STATUS_SUSPENDED | STATUS_CLOSED
  deriving (Generic)

data Tag = Tag {key :: Text, value :: Text} deriving (Generic)

data Branch = Branch {name :: Text, id :: Decimal Word64, tags :: [Tag]} deriving (Generic)

data TreeNode = TreeNode
  { name :: Text
  , digest :: Bytes
  , age :: Int32
  , balance :: Decimal Int64
  , serial :: Decimal Word64
  , score :: Double
  , ratio :: Float
  , active :: Bool
  , status :: Status
  , email :: Maybe Text
  , phone :: Maybe (Decimal Word64)
  , left :: Maybe Branch
  , right :: Maybe Branch
  , counters :: Map Text (Decimal Int64)
  }
  deriving (Generic)

-- | An integer that is a string in JSON.
newtype Decimal a = Decimal a

instance (Bounded a, Integral a) => FromJSON (Decimal a) where
  parseJSON = withText "integer" $ \digits -> case signed decimal digits of
    Right (number, rest)
      | Text.null rest, number >= toInteger (minBound :: a), number <= toInteger (maxBound :: a) ->
          pure (Decimal (fromInteger number))
    _ -> fail "not a valid integer"

instance (Show a) => ToJSON (Decimal a) where
  toJSON (Decimal number) = toJSON (show number)
  toEncoding (Decimal number) = toEncoding (show number)

newtype Bytes = Bytes ByteString

instance FromJSON Bytes where
  parseJSON = withText "base64" $ either fail (pure . Bytes) . Base64.decode . encodeUtf8

instance ToJSON Bytes where
  toJSON (Bytes bytes) = toJSON (decodeLatin1 (Base64.encode bytes))
  toEncoding (Bytes bytes) = toEncoding (decodeLatin1 (Base64.encode bytes))

instance FromJSON TextRequest

instance FromJSON RecordRequest

instance FromJSON DtoRequest

instance FromJSON TreeRequest

instance (ToJSON a) => ToJSON (Reply a) where
  toEncoding = genericToEncoding defaultOptions

instance FromJSON FlatRecord

instance ToJSON FlatRecord where
  toEncoding = genericToEncoding defaultOptions

instance FromJSON PropertyDto

instance ToJSON PropertyDto where
  toEncoding = genericToEncoding defaultOptions

instance FromJSON Status

instance ToJSON Status where
  toEncoding = genericToEncoding defaultOptions

instance FromJSON Tag

instance ToJSON Tag where
  toEncoding = genericToEncoding defaultOptions

instance FromJSON Branch

instance ToJSON Branch where
  toEncoding = genericToEncoding defaultOptions

instance FromJSON TreeNode where
  parseJSON fields = do
    node <- genericParseJSON defaultOptions fields
    when (isJust (email node) && isJust (phone node)) $ fail "both email and phone"
    pure node

instance ToJSON TreeNode where
  toJSON = genericToJSON defaultOptions {omitNothingFields = True}
  toEncoding = genericToEncoding defaultOptions {omitNothingFields = True}
