package consensus

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/assayhq/assay/internal/measure/agreement"
	"github.com/assayhq/assay/internal/measure/stat"
	"github.com/assayhq/assay/internal/measure/stat/oracle"
)

func TestOracle(t *testing.T) {
	t.Parallel()
	oracle.Compare(t, "consensus", oracles)
}

type outputs = oracle.Outputs

// oracleCrowd is a row for each item, with a label of each annotator; negative
// where there is none.
type oracleCrowd struct {
	Votes  [][]int
	Labels int
	Truth  []int
	Rounds int
	Coin   bool
}

func (c oracleCrowd) read() (*votes, error) {
	var scale agreement.Scale
	for label := range c.Labels {
		scale.Labels = append(scale.Labels, strconv.Itoa(label))
	}
	var all []Vote
	truth := Truth{}
	name := func(i int) string { return fmt.Sprintf("%04d", i) }
	for i, row := range c.Votes {
		for j, label := range row {
			if label >= 0 {
				all = append(all, Vote{Item: name(i), Annotator: strconv.Itoa(j), Label: strconv.Itoa(label)})
			}
		}
	}
	for i, label := range c.Truth {
		if label >= 0 {
			truth[name(i)] = strconv.Itoa(label)
		}
	}
	return read(all, scale, truth, nil)
}

// fit runs a model for so many rounds, without leaving anybody out.
func (c oracleCrowd) fit(coin, smooth bool, rounds int) (*model, error) {
	v, err := c.read()
	if err != nil {
		return nil, err
	}
	m := newModel(v, coin, smooth, make([]bool, len(v.annotators)))
	m.fit(rounds, func() {})
	return m, nil
}

// plainOptions are the options that nobody set.
func plainOptions() stat.Options {
	o, err := stat.Options{}.Checked()
	if err != nil {
		panic(err)
	}
	return o
}

var oracles = map[string]oracle.Function{
	"dawid_skene": oracle.Asking(func(in oracleCrowd) (outputs, error) {
		m, err := in.fit(false, false, in.Rounds)
		if err != nil {
			return nil, err
		}
		return outputs{"post": m.post, "prior": m.prior[0]}, nil
	}),
	"one_coin": oracle.Asking(func(in oracleCrowd) (outputs, error) {
		m, err := in.fit(true, false, in.Rounds)
		if err != nil {
			return nil, err
		}
		var skills []float64
		for j := range m.annotators {
			skills = append(skills, m.theta[j*m.k()*m.k()])
		}
		return outputs{"post": m.post, "skill": skills[0], "skills": skills}, nil
	}),
	"majority": oracle.Asking(func(in oracleCrowd) (outputs, error) {
		v, err := in.read()
		if err != nil {
			return nil, err
		}
		m := v.count()
		return outputs{"post": m.post, "prior": m.prior[0]}, nil
	}),
	"smoothed": oracle.Asking(func(in oracleCrowd) (outputs, error) {
		m, err := in.fit(in.Coin, true, mostRounds)
		if err != nil {
			return nil, err
		}
		var accuracy, bits, open []float64
		for j := range m.annotators {
			accuracy, bits = append(accuracy, m.accuracy(j)), append(bits, m.information(j))
		}
		for i := range m.items {
			open = append(open, entropy(m.post[i*m.k():(i+1)*m.k()]))
		}
		return outputs{"post": m.post, "prior": m.prior[0], "accuracy": accuracy, "bits": bits, "entropy": open}, nil
	}),
	"glad": oracle.Asking(func(in oracleCrowd) (outputs, error) {
		v, err := in.read()
		if err != nil {
			return nil, err
		}
		g := newGlad(v, make([]bool, len(v.annotators)))
		g.fit(in.Rounds, func() {})
		return outputs{"post": g.post, "skill": g.alpha[0]}, nil
	}),
	"peers": oracle.Asking(func(in oracleCrowd) (outputs, error) {
		m, err := in.fit(false, true, mostRounds)
		if err != nil {
			return nil, err
		}
		out := outputs{}
		for j, p := range m.peers() {
			e := p.estimate(Consensus{Status: stat.StatusOK, Method: MethodDawidSkene}, plainOptions())
			out["value"+strconv.Itoa(j)], out["se"+strconv.Itoa(j)] = e.Value, e.SE
		}
		return out, nil
	}),
	"variety": oracle.Asking(func(in oracleCrowd) (outputs, error) {
		v, err := in.read()
		if err != nil {
			return nil, err
		}
		out := outputs{}
		for j, x := range v.varieties(plainOptions()) {
			n := strconv.Itoa(j)
			out["own"+n], out["peers"+n] = x.Own, x.Peers
			if ci := x.Difference.CI; ci != nil {
				out["lower"+n], out["upper"+n] = ci.Lower, ci.Upper
			}
		}
		return out, nil
	}),
	"gold": oracle.Asking(func(in Gold) (outputs, error) {
		g, err := in.graded(QualityOptions{Required: defaultRequired, Options: plainOptions()})
		if err != nil {
			return nil, err
		}
		e := g.Accuracy
		return outputs{"mean": e.Value, "se": e.SE, "lower": e.CI.Lower, "upper": e.CI.Upper}, nil
	}),
}
