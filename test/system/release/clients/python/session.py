"""The session of the client that openapi-generator makes in Python."""

import re
import sys

from openapi_client import ApiClient, ApiException, Configuration, NewPlant, Plant, TransactionsApi

base_url, token, *ids = sys.argv[1:]
first, second, third, missing = map(int, ids)


def connect(access_token):
    return TransactionsApi(ApiClient(Configuration(host=base_url, access_token=access_token)))


def show(step, call, **arguments):
    """Prints a step and its answer. Returns the answer, or None for an error."""
    try:
        answer = call(**arguments)
    except ApiException as refused:
        print(f"{step}: {refused.status} error {refused.data.error}")
        return None
    found = answer.data if isinstance(answer.data, list) else [answer.data] if answer.data else []
    print(f"{step}: {answer.status_code} {', '.join(map(describe, found))}".rstrip())
    return answer


def describe(plant):
    return " ".join(filter(None, [plant.name, plant.tag]))


assert Plant.model_fields["name"].annotation is str
plants = connect(token)
create, find, delete = (
    plants.create_payout_with_http_info,
    plants.get_payout_with_http_info,
    plants.delete_payout_with_http_info,
)
show(f"create {first}", create, new_plant=NewPlant(id=first, name="Rose", tag="garden"))
show(f"create {second}", create, new_plant=NewPlant(id=second, name="Aloe vera"))
show(f"create {third}", create, new_plant=NewPlant(id=third, name="🌱"))
show(f"create {third}", create, new_plant=NewPlant(id=third, name="Ficus"))
page = show("list", find, limit=2)
cursor = re.search(r'cursor=([\w-]+)>; rel="next"', page.headers["link"])[1]
show("next", find, limit=2, cursor=cursor)
show("bad cursor", find, cursor="AAAAAAAAAAB")
for plant_id in (missing, first, second, third):
    show(f"delete {plant_id}", delete, id=plant_id)
show("bad token", connect("bad").get_payout_with_http_info)
