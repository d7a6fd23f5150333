// The contract's service as JSON on gin.
package main

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"rpcbench.dev/servers/go/service/echojson"
	"rpcbench.dev/servers/go/service/web"
)

func text(c *gin.Context) {
	var in echojson.TextRequest
	if err := c.ShouldBindJSON(&in); err != nil {
		refuse(c, err)
		return
	}
	c.JSON(http.StatusOK, echojson.TextReply{Echo: in.Text})
}

func record(c *gin.Context) {
	var in echojson.RecordRequest
	if err := c.ShouldBindJSON(&in); err != nil {
		refuse(c, err)
		return
	}
	c.JSON(http.StatusOK, echojson.RecordReply{Echo: in.Record})
}

func dto(c *gin.Context) {
	var in echojson.DtoRequest
	if err := c.ShouldBindJSON(&in); err != nil {
		refuse(c, err)
		return
	}
	c.JSON(http.StatusOK, echojson.DtoReply{Echo: in.Dto})
}

func tree(c *gin.Context) {
	var in echojson.TreeRequest
	if err := c.ShouldBindJSON(&in); err != nil {
		refuse(c, err)
		return
	}
	if err := in.Validate(); err != nil {
		refuse(c, err)
		return
	}
	c.JSON(http.StatusOK, echojson.TreeReply{Echo: in.Tree})
}

func refuse(c *gin.Context, err error) {
	c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	// gin.Default would log every request.
	router := gin.New()
	router.Use(gin.Recovery())
	service := router.Group("/rpcbench.v1.Echo")
	service.POST("/Text", text)
	service.POST("/Record", record)
	service.POST("/Dto", dto)
	service.POST("/Tree", tree)
	web.Run("go-gin", http.MaxBytesHandler(router, web.MaxBody), web.HTTP1And2())
}
