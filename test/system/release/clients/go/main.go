// The session of the client that openapi-generator makes in Go.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"

	openapi "github.com/GIT_USER_ID/GIT_REPO_ID"
)

var next = regexp.MustCompile(`cursor=([\w-]+)>; rel="next"`)

func main() {
	ids := make([]int64, 4)
	for i := range ids {
		id, err := strconv.ParseInt(os.Args[3+i], 10, 64)
		if err != nil {
			panic(err)
		}
		ids[i] = id
	}
	first, second, third, missing := ids[0], ids[1], ids[2], ids[3]
	config := openapi.NewConfiguration()
	config.Servers = openapi.ServerConfigurations{{URL: os.Args[1]}}
	plants := openapi.NewAPIClient(config).TransactionsAPI
	ctx := context.WithValue(context.Background(), openapi.ContextAccessToken, os.Args[2])

	create := func(plant *openapi.PlantWithId) {
		found, response, err := plants.CreatePayout(ctx).PlantWithId(*plant).Execute()
		if found == nil {
			found = &openapi.Plant{}
		}
		show(fmt.Sprintf("create %d", plant.Id), response, err, *found)
	}
	rose := openapi.NewPlantWithId(first, "Rose")
	rose.SetTag("garden")
	create(rose)
	create(openapi.NewPlantWithId(second, "Aloe vera"))
	create(openapi.NewPlantWithId(third, "🌱"))
	create(openapi.NewPlantWithId(third, "Ficus"))

	page, response, err := plants.GetPayout(ctx).Limit(2).Execute()
	show("list", response, err, page...)
	cursor := next.FindStringSubmatch(response.Header.Get("Link"))[1]
	page, response, err = plants.GetPayout(ctx).Limit(2).Cursor(cursor).Execute()
	show("next", response, err, page...)
	_, response, err = plants.GetPayout(ctx).Cursor("AAAAAAAAAAB").Execute()
	show("bad cursor", response, err)
	for _, id := range []int64{missing, first, second, third} {
		response, err = plants.DeletePayout(ctx, id).Execute()
		show(fmt.Sprintf("delete %d", id), response, err)
	}
	bad := context.WithValue(context.Background(), openapi.ContextAccessToken, "bad")
	_, response, err = plants.GetPayout(bad).Execute()
	show("bad token", response, err)
}

// Prints a step and its answer.
func show(step string, response *http.Response, err error, plants ...openapi.Plant) {
	text := ""
	var refused *openapi.GenericOpenAPIError
	if errors.As(err, &refused) {
		text = fmt.Sprintf("error %d", refused.Model().(openapi.Error).Error)
	} else if err != nil {
		panic(err)
	} else {
		var names []string
		for _, plant := range plants {
			var name string = plant.Name
			names = append(names, strings.TrimSpace(name+" "+plant.GetTag()))
		}
		text = strings.Join(names, ", ")
	}
	fmt.Println(strings.TrimSpace(fmt.Sprintf("%s: %d %s", step, response.StatusCode, text)))
}
