// Command pages draws what pages show of the repository that it is run in: the imports between
// packages, and the kinds of events. `make gen` runs it.
package main

import (
	"fmt"
	"os"

	"github.com/assayhq/assay/internal/tool/arch"
)

func main() {
	for _, page := range []string{arch.PictureFile, arch.EventPage} {
		text, err := arch.Redraw(os.DirFS("."), page)
		if err == nil {
			err = os.WriteFile(page, []byte(text), 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "pages:", err)
			os.Exit(1)
		}
	}
}
