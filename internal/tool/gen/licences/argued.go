package main

// argued are the modules, at one version each, that are linked although they
// carry no licence file, with the reason. They stay visible in the table, and a
// new version has to be read again.
var argued = map[string]string{
	// This version has no licence file. It declares two options, generated from
	// a .proto file; go.temporal.io/api (MIT) imports it, and without that there
	// is no Temporal client.
	"github.com/nexus-rpc/nexus-proto-annotations@v0.1.0": "none, needed by go.temporal.io/api",
}
