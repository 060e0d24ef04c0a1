package dataset

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/assayhq/assay/internal/httpapi"
)

// Schema lists the statuses.
func (Status) Schema(huma.Registry) *huma.Schema { return httpapi.Enum(StatusActive, StatusArchived) }

// Schema lists the purposes.
func (Purpose) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum(PurposeGeneral, PurposeGolden, PurposeCalibration, PurposeRegression)
}

// schemas are the public names of the domain's wire types. Clients are generated
// from them: renaming one is a breaking change.
var schemas = httpapi.Schemas{
	"AddDatasetItems":        addItemsBody{},
	"AddedDatasetItem":       addedItem{},
	"AddedDatasetItems":      addedItemsBody{},
	"CreateDataset":          createBody{},
	"Dataset":                datasetBody{},
	"DatasetItem":            itemBody{},
	"DatasetItemInput":       ItemFields{},
	"DatasetItemList":        listItemsBody{},
	"DatasetItemSource":      sourceBody{},
	"DatasetItemSourceInput": sourceInput{},
	"DatasetList":            listBody{},
	"DatasetVersion":         versionBody{},
	"DatasetVersionList":     listVersionsBody{},
	"DeleteDatasetItems":     ItemsNamed{},
	"DeletedDatasetItems":    deletedItemsBody{},
	"FreezeDatasetVersion":   freezeBody{},
	"SkippedDatasetItem":     skippedItem{},
	"UpdateDataset":          updateBody{},
	"UpdateDatasetItem":      itemPatch{},
	"UpdateDatasetItems":     itemsPatch{},
	"UpdatedDatasetItems":    updatedItemsBody{},
}
