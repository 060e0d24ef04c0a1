// Command assay is the whole platform in one binary.
package main

import (
	"os"

	"github.com/assayhq/assay/internal/app"
)

// version is set by the build.
var version = "dev"

func main() { os.Exit(app.Main(version, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)) }
