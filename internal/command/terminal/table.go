package terminal

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// cell is one field of a table.
type cell struct {
	text   string
	colour string
}

// field is a column of a table.
type field struct {
	head  string
	right bool
	whole bool // is never cut
}

// table writes rows below their heads. The first column gives way when the
// terminal is narrow, the last one after it.
func (s Style) table(out io.Writer, fields []field, rows [][]cell) {
	widths := make([]int, len(fields))
	for i, f := range fields {
		widths[i] = Columns(f.head)
		for _, r := range rows {
			widths[i] = max(widths[i], Columns(r[i].text))
		}
	}
	if s.Width > 0 {
		total := gap * (len(fields) - 1)
		for _, w := range widths {
			total += w
		}
		for _, i := range []int{0, len(fields) - 1} {
			if total > s.Width && !fields[i].whole {
				less := max(min(widths[i], leastName), widths[i]-(total-s.Width))
				total -= widths[i] - less
				widths[i] = less
			}
		}
	}
	write := func(cells []cell) {
		var b strings.Builder
		for i, c := range cells {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", gap))
			}
			text := Left(c.text, widths[i])
			if fields[i].right {
				text = Right(c.text, widths[i])
			}
			if i == len(cells)-1 {
				text = strings.TrimRight(text, " ")
			}
			b.WriteString(s.paint(c.colour, text))
		}
		fmt.Fprintln(out, strings.TrimRight(b.String(), " "))
	}
	head := make([]cell, len(fields))
	for i, f := range fields {
		head[i] = cell{f.head, dim}
	}
	write(head)
	for _, r := range rows {
		write(r)
	}
}

// paragraph writes a text in lines that fit, below a first line's indent.
func (s Style) paragraph(out io.Writer, colour, first, text string) {
	indent := Columns(first)
	width := 0
	if s.Width > 0 {
		width = max(leastName, s.Width-indent)
	}
	for i, line := range wrap(oneLine(text), width) {
		before := first
		if i > 0 {
			before = strings.Repeat(" ", indent)
		}
		fmt.Fprintln(out, strings.TrimRight(s.paint(colour, before+line), " "))
	}
}

// none stands for a figure that is not there.
const none = "–"

// decimals is how many digits after the point a figure of this size needs, so
// that an interval of this half width still shows.
func decimals(value, half float64) int {
	n := 0
	switch a := math.Abs(value); {
	case a < 10:
		n = 3
	case a < 100:
		n = 2
	case a < 1000:
		n = 1
	}
	if half > 0 {
		n = max(n, min(9, 1-int(math.Floor(math.Log10(half)))))
	}
	return min(n, 9)
}

// apart returns enough digits for the numbers to differ from another one as they
// are written, if they differ from it at all.
func apart(digits int, percent bool, from float64, numbers ...*float64) int {
	for _, x := range numbers {
		for x != nil && *x != from && digits < 9 && figure(x, digits, percent) == figure(&from, digits, percent) {
			digits++
		}
	}
	return digits
}

// figure is a number with so many digits, in hundredths if it is a share.
func figure(x *float64, digits int, percent bool) string {
	switch {
	case x == nil || math.IsNaN(*x) || math.IsInf(*x, 0):
		return none
	case percent:
		return strconv.FormatFloat(*x*100, 'f', max(1, digits-2), 64) + "%"
	case math.Abs(*x) >= 1e15:
		return strconv.FormatFloat(*x, 'g', 4, 64)
	}
	return strings.TrimPrefix(strconv.FormatFloat(*x, 'f', digits, 64), unsignedZero(*x, digits))
}

// unsignedZero is the sign that a negative number loses when it is rounded to
// zero.
func unsignedZero(x float64, digits int) string {
	if x < 0 && math.Round(x*math.Pow10(digits)) == 0 {
		return "-"
	}
	return ""
}

// Number is a number with commas between thousands.
func Number(n int) string { return grouped(n) }

// grouped is a number with commas between thousands.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
