-- The request that wrk sends to Echo.Text: the same 100 bytes of text in every call.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"text":"' .. string.rep("a", 100) .. '"}'
