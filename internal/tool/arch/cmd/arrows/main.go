// Command arrows draws the imports between packages into ARCHITECTURE.md of
// the repository that it is run in. `make gen` runs it.
package main

import (
	"fmt"
	"os"

	"github.com/assayhq/assay/internal/tool/arch"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "arrows:", err)
		os.Exit(1)
	}
}

func run() error {
	text, err := arch.Redraw(os.DirFS("."))
	if err != nil {
		return err
	}
	return os.WriteFile(arch.PictureFile, []byte(text), 0o644)
}
