package consensus

import "math"

// The priors of the smoothed models, counted in votes: an annotator is taken to
// have been right twice and to have given each wrong label once, for each label
// that an item can have. It keeps a handful of votes from looking like certainty.
const (
	priorRight = 2
	priorWrong = 1
	priorClass = 1
)

const (
	// settled is the largest change of a posterior at which the fit has converged.
	settled = 1e-10
	// mostRounds bounds the fit; far fewer are usual.
	mostRounds = 500
	// nearZero stands for a probability of zero, which has no logarithm.
	nearZero = 1e-10
)

// model is a fit: what annotators say given the truth, and what the truth is.
type model struct {
	*votes
	coin     bool // one accuracy for each annotator in place of a matrix
	smooth   bool
	excluded []bool // annotators whose votes do not count
	// voted marks the items that a vote which counts is about, or an expert decided.
	// Others tell nothing about anybody.
	voted []bool
	known float64 // how many there are

	prior []float64 // of the labels
	// theta[(j*k+c)*k+y] is the probability that annotator j says y where c is true.
	theta []float64
	// logs has the logarithms of theta, with the places of c and y exchanged.
	logs []float64
	// post[i*k+c] is the probability that c is the label of item i.
	post []float64

	rounds    int
	converged bool
}

func newModel(v *votes, coin, smooth bool, excluded []bool) *model {
	k, n := v.k(), len(v.annotators)
	return &model{
		votes: v, coin: coin, smooth: smooth, excluded: excluded, voted: make([]bool, len(v.items)),
		prior: make([]float64, k), theta: make([]float64, n*k*k), logs: make([]float64, n*k*k), post: make([]float64, len(v.items)*k),
	}
}

// fit alternates between what annotators do, given the labels, and the labels,
// given what annotators do. Others are let in at each step.
func (m *model) fit(rounds int, step func()) {
	m.start()
	for m.rounds < rounds && !m.converged {
		step()
		m.maximize()
		step()
		m.converged = m.expect() < settled
		m.rounds++
	}
	m.maximize()
}

// start takes the shares of the votes for posteriors.
func (m *model) start() {
	k := m.k()
	for i := range m.items {
		post, n := m.post[i*k:(i+1)*k], 0.0
		clear(post)
		m.each(i, func(by, said int32) {
			if !m.excluded[by] {
				post[said]++
				n++
			}
		})
		for c := range post {
			if n > 0 {
				post[c] /= n
			} else {
				post[c] = 1 / float64(k)
			}
		}
		m.clamp(i)
		if m.voted[i] = n > 0 || m.truth[i] != unknown; m.voted[i] {
			m.known++
		}
	}
}

// clamp sets the posterior of an item that an expert decided.
func (m *model) clamp(item int) {
	if m.truth[item] == unknown {
		return
	}
	post := m.post[item*m.k() : (item+1)*m.k()]
	clear(post)
	post[m.truth[item]] = 1
}

// maximize estimates the classes' shares and what annotators do, also those who
// are excluded.
func (m *model) maximize() {
	k := m.k()
	class, right, wrong := 0.0, 0.0, 0.0
	if m.smooth {
		class, right, wrong = priorClass, priorRight, priorWrong
	}
	clear(m.prior)
	for i := range m.items {
		for c := range k {
			if m.voted[i] {
				m.prior[c] += m.post[i*k+c]
			}
		}
	}
	if m.known == 0 {
		class = priorClass // zero of zero is no share
	}
	for c := range k {
		m.prior[c] = (m.prior[c] + class) / (m.known + class*float64(k))
	}
	for at := range m.theta {
		m.theta[at] = wrong
		if c, y := at/k%k, at%k; c == y {
			m.theta[at] = right
		}
	}
	for i := range m.items {
		if !m.voted[i] {
			continue
		}
		post := m.post[i*k : (i+1)*k]
		m.each(i, func(by, said int32) {
			at := int(by)*k*k + int(said)
			for c, p := range post {
				m.theta[at+c*k] += p
			}
		})
	}
	for j := range m.annotators {
		own := m.theta[j*k*k : (j+1)*k*k]
		if m.coin {
			m.toss(own, right+wrong*float64(k-1))
		} else {
			m.shares(own)
		}
		for c := range k {
			for y := range k {
				m.logs[(j*k+y)*k+c] = math.Log(own[c*k+y])
			}
		}
	}
}

// shares turns the counts of a matrix into probabilities, row by row.
func (m *model) shares(own []float64) {
	k := m.k()
	for c := range k {
		row, all := own[c*k:(c+1)*k], 0.0
		for y := range row {
			row[y] = math.Max(row[y], nearZero)
			all += row[y]
		}
		for y := range row {
			row[y] /= all
		}
	}
}

// toss turns the counts of a matrix into those of a coin: right with one
// probability, whatever the truth, and wrong in each way as often. The matrix
// has the prior k times, and the coin has it once.
func (m *model) toss(own []float64, prior float64) {
	k := m.k()
	right, all := 0.0, 0.0
	for c := range k {
		right += own[c*k+c]
		for y := range k {
			all += own[c*k+y]
		}
	}
	if m.smooth {
		right -= priorRight * float64(k-1)
		all -= prior * float64(k-1)
	}
	skill := 1 / float64(k)
	if all > 0 {
		skill = right / all
	}
	skill = math.Min(1-nearZero, math.Max(nearZero, skill))
	for c := range k {
		for y := range k {
			own[c*k+y] = (1 - skill) / float64(k-1)
		}
		own[c*k+c] = skill
	}
}

// expect estimates the items' labels, and returns by how much a probability
// changed at most.
func (m *model) expect() float64 {
	k, most := m.k(), 0.0
	next, base := make([]float64, k), m.logPrior()
	for i := range m.items {
		if m.truth[i] != unknown {
			continue
		}
		copy(next, base)
		m.each(i, func(by, said int32) {
			if !m.excluded[by] {
				m.add(next, by, said, 1)
			}
		})
		normalize(next)
		for c, p := range next {
			most = math.Max(most, math.Abs(p-m.post[i*k+c]))
			m.post[i*k+c] = p
		}
	}
	return most
}

func (m *model) logPrior() []float64 {
	out := make([]float64, m.k())
	for c, p := range m.prior {
		out[c] = math.Log(math.Max(p, nearZero))
	}
	return out
}

// add adds the evidence of a vote to logarithms, or takes it away.
func (m *model) add(to []float64, by, said int32, sign float64) {
	k := m.k()
	for c, l := range m.logs[(int(by)*k+int(said))*k : (int(by)*k+int(said)+1)*k] {
		to[c] += sign * l
	}
}

// normalize turns logarithms into probabilities that add up to one.
func normalize(x []float64) {
	most := math.Inf(-1)
	for _, l := range x {
		most = math.Max(most, l)
	}
	all := 0.0
	for c, l := range x {
		x[c] = math.Exp(l - most)
		all += x[c]
	}
	for c := range x {
		x[c] /= all
	}
}

// accuracy is the probability that an annotator is right about an item.
func (m *model) accuracy(annotator int) float64 {
	k, sum := m.k(), 0.0
	for c, p := range m.prior {
		sum += p * m.theta[(annotator*k+c)*k+c]
	}
	return sum
}

// information is what a vote of an annotator tells about the truth on average,
// in bits.
func (m *model) information(annotator int) float64 {
	k, bits := m.k(), 0.0
	for y := range k {
		says := 0.0
		for c, p := range m.prior {
			says += p * m.theta[(annotator*k+c)*k+y]
		}
		for c, p := range m.prior {
			if x := m.theta[(annotator*k+c)*k+y]; p > 0 && x > 0 {
				bits += p * x * math.Log2(x/says)
			}
		}
	}
	return math.Max(0, bits)
}
