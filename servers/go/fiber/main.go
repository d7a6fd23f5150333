// The contract's service as JSON on Fiber.
package main

import (
	"context"
	"crypto/tls"
	"net"

	"github.com/gofiber/fiber/v3"

	"rpcbench.dev/servers/go/service"
	"rpcbench.dev/servers/go/service/echojson"
	"rpcbench.dev/servers/go/service/web"
)

type graceful struct {
	app     *fiber.App
	drained chan struct{}
}

func (g graceful) Serve(listener net.Listener) error {
	if config := service.TLS(); config != nil {
		listener = tls.NewListener(listener, config)
	}
	if err := g.app.Listener(listener, fiber.ListenConfig{DisableStartupMessage: true}); err != nil {
		return err
	}
	<-g.drained
	return nil
}

func (g graceful) GracefulStop() {
	defer close(g.drained)
	// No deadline here: package service ends the process after its own.
	_ = g.app.ShutdownWithContext(context.Background())
}

func text(in *echojson.TextRequest) (any, error) {
	return echojson.TextReply{Echo: in.Text}, nil
}

func record(in *echojson.RecordRequest) (any, error) {
	return echojson.RecordReply{Echo: in.Record}, nil
}

func dto(in *echojson.DtoRequest) (any, error) {
	return echojson.DtoReply{Echo: in.Dto}, nil
}

func tree(in *echojson.TreeRequest) (any, error) {
	return echojson.TreeReply{Echo: in.Tree}, in.Validate()
}

func unary[Request any](answer func(*Request) (any, error)) fiber.Handler {
	return func(c fiber.Ctx) error {
		var in Request
		if err := c.Bind().JSON(&in); err != nil {
			return fiber.NewError(fiber.StatusBadRequest, err.Error())
		}
		reply, err := answer(&in)
		if err != nil {
			return fiber.NewError(fiber.StatusBadRequest, err.Error())
		}
		return c.JSON(reply)
	}
}

func main() {
	service.Run("go-fiber", func() service.Server {
		app := fiber.New(fiber.Config{BodyLimit: web.MaxBody})
		echo := app.Group("/rpcbench.v1.Echo")
		echo.Post("/Text", unary(text))
		echo.Post("/Record", unary(record))
		echo.Post("/Dto", unary(dto))
		echo.Post("/Tree", unary(tree))
		return graceful{app, make(chan struct{})}
	})
}
