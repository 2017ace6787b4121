// The session of the client that openapi-generator makes in Kotlin.
import org.openapitools.client.apis.TransactionsApi
import org.openapitools.client.infrastructure.ApiClient
import org.openapitools.client.infrastructure.ApiResponse
import org.openapitools.client.infrastructure.ClientError
import org.openapitools.client.infrastructure.Serializer
import org.openapitools.client.infrastructure.Success
import org.openapitools.client.models.Error
import org.openapitools.client.models.NewPlant
import org.openapitools.client.models.Plant

fun main(args: Array<String>) {
    val (first, second, third, missing) = args.drop(2).map { it.toLong() }
    val plants = TransactionsApi(args[0])
    ApiClient.accessToken = args[1]
    for (plant in listOf(
        NewPlant(first, "Rose", "garden"),
        NewPlant(second, "Aloe vera"),
        NewPlant(third, "🌱"),
        NewPlant(third, "Ficus"),
    )) {
        show("create ${plant.id}", plants.createPayoutWithHttpInfo(plant))
    }
    val page = plants.getPayoutWithHttpInfo(2, null)
    show("list", page)
    val link = page.headers.getValue("link").single()
    val cursor = Regex("cursor=([\\w-]+)>; rel=\"next\"").find(link)!!.groupValues[1]
    show("next", plants.getPayoutWithHttpInfo(2, cursor))
    show("bad cursor", plants.getPayoutWithHttpInfo(null, "AAAAAAAAAAB"))
    for (id in listOf(missing, first, second, third)) show("delete $id", plants.deletePayoutWithHttpInfo(id))
    ApiClient.accessToken = "bad"
    show("bad token", plants.getPayoutWithHttpInfo(null, null))
}

/** Prints a step and its answer. */
fun show(step: String, answer: ApiResponse<*>) {
    val text = when (answer) {
        is Success -> when (val body = answer.data) {
            is List<*> -> body.joinToString { describe(it as Plant) }
            is Plant -> describe(body)
            else -> ""
        }
        is ClientError -> "error ${Serializer.moshi.adapter(Error::class.java).fromJson(answer.body as String)!!.error}"
        else -> "unexpected"
    }
    println("$step: ${answer.statusCode} $text".trimEnd())
}

fun describe(plant: Plant): String {
    val name: String = plant.name
    return listOfNotNull(name, plant.tag).joinToString(" ")
}
