package correction

import (
	"math"

	"github.com/assayhq/assay/internal/measure/stat"
)

// Stratum is a slice of the items with its share of all of them.
type Stratum struct {
	Share float64
	Items []Item
}

// CorrectStrata estimates the mean score of all items from slices whose shares are
// known and that were labelled each on their own. Every slice decides for itself
// how much the judge counts. A slice with fewer than two labels, or without
// unlabelled items, leaves nothing to say about the whole.
func CorrectStrata(strata []Stratum, o stat.Options) (Hybrid, error) {
	o, err := o.Checked()
	if err != nil {
		return Hybrid{}, err
	}
	h := Hybrid{Estimate: o.Estimate("stratified_ppi")}
	h.Source = stat.SourceHybrid
	var shares float64
	var value, variance, soft, softVariance, spread float64
	for i, s := range strata {
		if !(s.Share > 0 && s.Share <= 1) {
			return Hybrid{}, malformed("stratum %d: share %v must lie between 0 and 1", i, s.Share)
		}
		if err := check(s.Items, o); err != nil {
			return Hybrid{}, err
		}
		parts := newSplit(s.Items)
		if parts.versions || !parts.equal {
			return Hybrid{}, malformed("stratum %d: labels of one slice are drawn alike and judged by one version", i)
		}
		p, clusters, ok := newPool(parts)
		shares += s.Share
		h.N, h.Items, h.Clusters = h.N+len(parts.labelled), h.Items+len(parts.labelled), h.Clusters+clusters
		if !ok {
			h.Abstain(stat.StatusNotIdentified, inPart)
			continue
		}
		if clusters < 2 || len(p.rest) < 2 {
			h.Abstain(stat.StatusInsufficient, "a slice has fewer than two labels or unlabelled items")
			continue
		}
		f := p.corrected(nil)
		value, variance = value+s.Share*f.value, variance+s.Share*s.Share*f.se*f.se
		if o.Range != nil {
			f = p.softened(*o.Range).corrected(nil)
		}
		v := s.Share * s.Share * f.se * f.se
		soft, softVariance, spread = soft+s.Share*f.value, softVariance+v, spread+v*v/(f.size-1)
	}
	switch {
	case len(strata) == 0 || math.Abs(shares-1) > 1e-9:
		return Hybrid{}, malformed("shares add up to %v and not to 1", shares)
	case h.Status != stat.StatusOK:
		return h, nil
	}
	h.Value, h.NEff = &value, float64(h.Clusters)
	if variance > 0 {
		h.SE = ptr(math.Sqrt(variance))
	}
	if softVariance == 0 {
		h.Abstain(stat.StatusDegenerate, "the labels do not vary, and without a range nothing bounds what was not observed")
		return h, nil
	}
	h.DF = ptr(softVariance * softVariance / spread) // Welch and Satterthwaite
	half := stat.TCritical(o.Alpha(), *h.DF) * math.Sqrt(softVariance)
	if o.Range == nil {
		h.Between(soft-half, soft+half, o.Level, "stratified_ppi_t")
	} else {
		h.within(soft-half, soft+half, o, "stratified_ppi_adjusted_t")
	}
	h.Assume("labelled items are a random part of their slice")
	if h.Clusters < fewLabels {
		h.Weaken("fewer than 50 labels")
	}
	return h, nil
}
