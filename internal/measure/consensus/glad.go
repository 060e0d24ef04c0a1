package consensus

import (
	"math"

	"gonum.org/v1/gonum/optimize"
)

// glad is the model of Whitehill and others: annotators differ in skill and items
// in difficulty. A vote is right with the probability of the logistic function of
// the skill times the ease.
type glad struct {
	*model
	alpha []float64 // skill of each annotator; below zero is worse than guessing
	beta  []float64 // logarithm of the ease of each item
}

// gladRounds bounds the fit: a round is an optimization of its own.
const gladRounds = 200

// newGlad starts with everybody and everything alike.
func newGlad(v *votes, excluded []bool) *glad {
	g := &glad{newModel(v, false, true, excluded), make([]float64, len(v.annotators)), make([]float64, len(v.items))}
	for j := range g.alpha {
		g.alpha[j] = 1
	}
	for i := range g.beta {
		g.beta[i] = 1
	}
	return g
}

// fit alternates between the labels and what makes them most plausible. All labels
// have the same chance in advance.
func (g *glad) fit(rounds int, step func()) {
	g.start()
	g.expect()
	for g.rounds < rounds && !g.converged && len(g.items) > 0 {
		step()
		g.optimize()
		g.converged = g.expect() < settled*1e3 // an optimization leaves that much open
		g.rounds++
	}
	g.converged = g.converged || len(g.items) == 0
	g.maximize() // what annotators do, for the matrices
}

// expect estimates the items' labels, and returns by how much a probability
// changed at most.
func (g *glad) expect() float64 {
	k, most := g.k(), 0.0
	next := make([]float64, k)
	for i := range g.items {
		if g.truth[i] != unknown {
			continue
		}
		clear(next)
		g.each(i, func(by, said int32) {
			if g.excluded[by] {
				return
			}
			right, wrong := g.chances(int(by), i)
			for c := range next {
				if c == int(said) {
					next[c] += right
				} else {
					next[c] += wrong
				}
			}
		})
		normalize(next)
		for c, p := range next {
			most = math.Max(most, math.Abs(p-g.post[i*k+c]))
			g.post[i*k+c] = p
		}
	}
	return most
}

// chances returns the logarithms of the probabilities of the right label and of each
// wrong one.
func (g *glad) chances(annotator, item int) (right, wrong float64) {
	x := g.alpha[annotator] * math.Exp(g.beta[item])
	return -softplus(-x), -softplus(x) - math.Log(float64(g.k()-1))
}

// softplus is log(1+exp(x)), also where exp(x) is too large for a number.
func softplus(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}

// optimize finds the skills and the ease that make the labels most plausible, given
// that both are about one.
func (g *glad) optimize() {
	n := len(g.alpha)
	x := append(append(make([]float64, 0, n+len(g.beta)), g.alpha...), g.beta...)
	// each visits the votes that count with what they would be: the argument of the
	// logistic function, and the probability that the vote is right.
	each := func(x []float64, visit func(by, item int, z, right float64)) {
		for i := range g.items {
			ease := math.Exp(x[n+i])
			g.each(i, func(by, said int32) {
				if !g.excluded[by] {
					visit(int(by), i, x[by]*ease, g.post[i*g.k()+int(said)])
				}
			})
		}
	}
	problem := optimize.Problem{
		Func: func(x []float64) float64 {
			sum := 0.0
			for _, v := range x {
				sum += (v - 1) * (v - 1) / 2
			}
			each(x, func(_, _ int, z, right float64) { sum += right*softplus(-z) + (1-right)*softplus(z) })
			return sum
		},
		Grad: func(grad, x []float64) {
			for at, v := range x {
				grad[at] = v - 1
			}
			each(x, func(by, i int, z, right float64) {
				d := 1/(1+math.Exp(-z)) - right
				grad[by] += d * math.Exp(x[n+i])
				grad[n+i] += d * z
			})
		},
	}
	// It ends near an optimum or where no step improves; both are fine, because the
	// next round goes on from there.
	r, _ := optimize.Minimize(problem, x, &optimize.Settings{GradientThreshold: 1e-9, MajorIterations: 200, Converger: optimize.NeverTerminate{}}, &optimize.LBFGS{})
	if r != nil && len(r.X) == len(x) && !math.IsNaN(r.F) {
		copy(g.alpha, r.X[:n])
		copy(g.beta, r.X[n:])
	}
}
