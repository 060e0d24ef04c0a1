package agreement

import "math"

// table is what each pair of labels weighs. The rows are the first rater's, who
// is the person where a judge is graded.
type table struct {
	k     int
	cells []float64
}

func (t table) at(i, j int) float64 { return t.cells[i*t.k+j] }

// margins returns the totals of the rows, of the columns, and of everything.
func (t table) margins() (rows, columns []float64, n float64) {
	rows, columns = make([]float64, t.k), make([]float64, t.k)
	for i := range t.k {
		for j := range t.k {
			x := t.at(i, j)
			rows[i] += x
			columns[j] += x
			n += x
		}
	}
	return rows, columns, n
}

// f1 is the harmonic mean of precision and recall of a class.
func (t table) f1(class int) float64 {
	rows, columns, _ := t.margins()
	return f1(t.at(class, class), rows[class], columns[class])
}

// f1 of a class that both raters used so often, the first and the second.
func f1(both, first, second float64) float64 {
	if first <= 0 || second <= 0 {
		return math.NaN()
	}
	return 2 * both / (first + second)
}

// used reports which classes the first rater used.
func (t table) used() []bool {
	rows, _, _ := t.margins()
	out := make([]bool, t.k)
	for c, row := range rows {
		out[c] = row > 0
	}
	return out
}

// balanced is the mean recall of the classes that the first rater used.
func (t table) balanced() float64 {
	rows, _, _ := t.margins()
	return t.balancedOver(t.used(), rows)
}

// balancedOver is the mean recall of those of the classes that are in the table.
func (t table) balancedOver(classes []bool, rows []float64) float64 {
	var sum, used float64
	for c, row := range rows {
		if classes[c] && row > 0 {
			sum += t.at(c, c) / row
			used++
		}
	}
	return sum / used
}

// mcc is Matthews' correlation coefficient, for any number of classes.
func (t table) mcc() float64 {
	rows, columns, n := t.margins()
	var same, both, ofRows, ofColumns float64
	for c := range t.k {
		same += t.at(c, c)
		both += rows[c] * columns[c]
		ofRows += rows[c] * rows[c]
		ofColumns += columns[c] * columns[c]
	}
	if ofRows == n*n || ofColumns == n*n {
		return math.NaN() // a rater who gave one label throughout
	}
	return clamp((same*n-both)/math.Sqrt((n*n-ofRows)*(n*n-ofColumns)), -1, 1)
}

// skewed reports whether one label has more than four fifths of all ratings,
// where agreement by chance is so frequent that kappa says little.
func (t table) skewed() bool {
	rows, columns, n := t.margins()
	for c := range t.k {
		if rows[c]+columns[c] > 0.8*2*n {
			return true
		}
	}
	return false
}
