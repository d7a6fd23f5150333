{-# LANGUAGE OverloadedStrings #-}

-- | The contract's service as JSON on Warp.
module Main (main) where

import Control.Concurrent (setNumCapabilities)
import Control.Monad (void)
import Data.Aeson (FromJSON, ToJSON, encode, eitherDecode)
import Data.ByteString (ByteString)
import qualified Data.ByteString.Char8 as Char8
import qualified Data.ByteString.Lazy as Lazy
import Data.String (fromString)
import Network.HTTP.Types
import Network.Wai
import Network.TLS.SessionManager (defaultConfig)
import Network.Wai.Handler.Warp
import Network.Wai.Handler.WarpTLS (TLSSettings (tlsSessionManagerConfig), runTLS, tlsSettings)
import Network.Wai.Middleware.RequestSizeLimit
import System.Environment (lookupEnv)
import System.Exit (die)
import System.Posix.Signals (Handler (Catch), installHandler, sigTERM)
import Text.Read (readMaybe)

import Messages

main :: IO ()
main = do
  host <- setting "RPCBENCH_HOST" Just
  port <- setting "RPCBENCH_PORT" (whole 65535)
  setting "RPCBENCH_CPUS" (whole 4096) >>= setNumCapabilities
  serve <- lookupEnv "RPCBENCH_TLS_CERT" >>= maybe (pure runSettings) tlsRunner
  serve
    ( setHost (fromString host)
        . setPort port
        -- The client decides how long connections live; by default Warp closes them after 30 idle seconds.
        . setTimeout 3600
        . setInstallShutdownHandler (\close -> void (installHandler sigTERM (Catch close) Nothing))
        . setGracefulShutdownTimeout (Just 2)
        $ defaultSettings
    )
    (limited service)

-- | Returns a runner with TLS. By default Warp resumes no session.
tlsRunner :: FilePath -> IO (Settings -> Application -> IO ())
tlsRunner certificate = do
  key <- setting "RPCBENCH_TLS_KEY" Just
  pure (runTLS (tlsSettings certificate key) {tlsSessionManagerConfig = Just defaultConfig})

setting :: String -> (String -> Maybe a) -> IO a
setting name parse = do
  value <- lookupEnv name
  maybe (die ("haskell-warp: " ++ name ++ " is missing or wrong: " ++ show value)) pure (value >>= parse)

whole :: Int -> String -> Maybe Int
whole limit value = case readMaybe value of
  Just number | number >= 1, number <= limit -> Just number
  _ -> Nothing

-- | Limits requests to 8 MiB instead of the default of 2 MiB.
limited :: Middleware
limited = requestSizeLimitMiddleware (setMaxLengthForRequest (\_ -> pure (Just 8388608)) defaultRequestSizeLimitSettings)

service :: Application
service request respond = case method (rawPathInfo request) of
  Nothing -> respond (failed status404 "not found")
  Just _ | requestMethod request /= methodPost -> respond (failed status405 "method not allowed")
  Just answer -> strictRequestBody request >>= respond . either (failed status400) (json status200) . answer

-- | A method by its path. It returns the reply to a request's body, or what is wrong with that.
method :: ByteString -> Maybe (Lazy.ByteString -> Either String Lazy.ByteString)
method "/rpcbench.v1.Echo/Text" = Just (unary text)
method "/rpcbench.v1.Echo/Record" = Just (unary record)
method "/rpcbench.v1.Echo/Dto" = Just (unary dto)
method "/rpcbench.v1.Echo/Tree" = Just (unary tree)
method _ = Nothing

unary :: (FromJSON request, ToJSON content) => (request -> content) -> Lazy.ByteString -> Either String Lazy.ByteString
unary content body = encode . Reply . content <$> eitherDecode body

failed :: Status -> String -> Response
failed status reason = json status (encode reason)

json :: Status -> Lazy.ByteString -> Response
json status body = responseLBS status [(hContentType, "application/json"), (hContentLength, size)] body
  where
    size = Char8.pack (show (Lazy.length body))
