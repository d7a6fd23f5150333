package main

import (
	"unicode/utf8"

	"rpcbench.dev/contract/echopb"
)

// protobuf requires strings to be UTF-8. protobuf-go checks while decoding; vtprotobuf leaves that to the service.

func valid(texts ...string) bool {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return false
		}
	}
	return true
}

func validRecord(r *echopb.FlatRecord) bool {
	return valid(r.GetField1(), r.GetField4(), r.GetField7(), r.GetField9(),
		r.GetField18(), r.GetField102(), r.GetField103(), r.GetField129())
}

func validDto(d *echopb.PropertyDto) bool {
	return valid(d.GetProp1(), d.GetProp2(), d.GetProp3())
}
