// The contract's service as JSON on net/http.
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"

	"rpcbench.dev/servers/go/service/echojson"
	"rpcbench.dev/servers/go/service/web"
)

func text(in echojson.TextRequest) (echojson.TextReply, error) {
	return echojson.TextReply{Echo: in.Text}, nil
}

func record(in echojson.RecordRequest) (echojson.RecordReply, error) {
	return echojson.RecordReply{Echo: in.Record}, nil
}

func dto(in echojson.DtoRequest) (echojson.DtoReply, error) {
	return echojson.DtoReply{Echo: in.Dto}, nil
}

func tree(in echojson.TreeRequest) (echojson.TreeReply, error) {
	return echojson.TreeReply{Echo: in.Tree}, in.Validate()
}

// unary returns a handler that decodes a request, answers it and encodes the reply.
func unary[Request, Reply any](answer func(Request) (Reply, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var request Request
		if err := json.Unmarshal(body, &request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		reply, err := answer(request)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(reply); err != nil {
			log.Print(err)
		}
	}
}

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /rpcbench.v1.Echo/Text", unary(text))
	mux.HandleFunc("POST /rpcbench.v1.Echo/Record", unary(record))
	mux.HandleFunc("POST /rpcbench.v1.Echo/Dto", unary(dto))
	mux.HandleFunc("POST /rpcbench.v1.Echo/Tree", unary(tree))
	web.Run("go-net-http", http.MaxBytesHandler(mux, web.MaxBody), web.HTTP1())
}
