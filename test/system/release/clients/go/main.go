// The session of the client that oapi-codegen makes.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"

	"plants"
)

var next = regexp.MustCompile(`cursor=([\w-]+)>; rel="next"`)

func main() {
	ids := make([]int64, 4)
	for i := range ids {
		ids[i] = must(strconv.ParseInt(os.Args[3+i], 10, 64))
	}
	first, second, third, missing := ids[0], ids[1], ids[2], ids[3]
	ctx := context.Background()
	client := connect(os.Args[1], os.Args[2])
	tag := "garden"
	for _, plant := range []plants.NewPlant{
		{Id: first, Name: "Rose", Tag: &tag},
		{Id: second, Name: "Aloe vera"},
		{Id: third, Name: "🌱"},
		{Id: third, Name: "Ficus"},
	} {
		answer := must(client.CreatePayoutWithResponse(ctx, plant))
		var found []plants.Plant
		if answer.JSON200 != nil {
			found = append(found, *answer.JSON200)
		}
		show(fmt.Sprintf("create %d", plant.Id), answer.StatusCode(), answer.JSON409, found)
	}
	limit := int32(2)
	page := must(client.GetPayoutWithResponse(ctx, &plants.GetPayoutParams{Limit: &limit}))
	show("list", page.StatusCode(), nil, *page.JSON200)
	cursor := next.FindStringSubmatch(*page.Headers200.Link)[1]
	page = must(client.GetPayoutWithResponse(ctx, &plants.GetPayoutParams{Limit: &limit, Cursor: &cursor}))
	show("next", page.StatusCode(), nil, *page.JSON200)
	cursor = "AAAAAAAAAAB"
	page = must(client.GetPayoutWithResponse(ctx, &plants.GetPayoutParams{Cursor: &cursor}))
	show("bad cursor", page.StatusCode(), page.JSON400, nil)
	for _, id := range []int64{missing, first, second, third} {
		answer := must(client.DeletePayoutWithResponse(ctx, id))
		show(fmt.Sprintf("delete %d", id), answer.StatusCode(), answer.JSON404, nil)
	}
	page = must(connect(os.Args[1], "bad").GetPayoutWithResponse(ctx, nil))
	show("bad token", page.StatusCode(), page.JSON401, nil)
}

func connect(baseURL, token string) *plants.ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
	return must(plants.NewClientWithResponses(baseURL, plants.WithRequestEditorFn(authorize)))
}

// Prints a step and its answer.
func show(step string, status int, refused *plants.Error, found []plants.Plant) {
	var parts []string
	if refused != nil {
		parts = append(parts, fmt.Sprintf("error %d", refused.Error))
	}
	for _, plant := range found {
		var name string = plant.Name
		if plant.Tag != nil {
			name += " " + *plant.Tag
		}
		parts = append(parts, name)
	}
	fmt.Println(strings.TrimSpace(fmt.Sprintf("%s: %d %s", step, status, strings.Join(parts, ", "))))
}

func must[Value any](value Value, err error) Value {
	if err != nil {
		panic(err)
	}
	return value
}
