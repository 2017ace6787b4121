// The session of the client that openapi-generator makes in Rust.
use openapi::apis::configuration::Configuration;
use openapi::apis::transactions_api::{create_payout, delete_payout, get_payout};
use openapi::apis::Error;
use openapi::models::{self, NewPlant, Plant};

fn connect(base_url: &str, token: &str) -> Configuration {
    Configuration {
        base_path: base_url.to_owned(),
        bearer_access_token: Some(token.to_owned()),
        ..Configuration::new()
    }
}

/// Prints a step and its answer; the client does not tell the status of success.
fn show<E: std::fmt::Debug>(step: &str, success: u16, answer: Result<Vec<Plant>, Error<E>>) {
    let text = match answer {
        Ok(plants) => {
            let names: Vec<String> = plants.into_iter().map(describe).collect();
            format!("{success} {}", names.join(", "))
        }
        Err(Error::ResponseError(refused)) => {
            let error: models::Error = serde_json::from_str(&refused.content).unwrap();
            format!("{} error {}", refused.status.as_u16(), error.error)
        }
        Err(other) => panic!("{step}: {other:?}"),
    };
    println!("{}", format!("{step}: {text}").trim_end());
}

fn describe(plant: Plant) -> String {
    let name: String = plant.name;
    plant.tag.map_or(name.clone(), |tag| format!("{name} {tag}"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let ids: Vec<i64> = words[2..].iter().map(|id| id.parse().unwrap()).collect();
    let [first, second, third, missing] = ids[..] else {
        panic!("four ids are needed")
    };
    let plants = connect(&words[0], &words[1]);
    let mut rose = NewPlant::new(first, "Rose".to_owned());
    rose.tag = Some("garden".to_owned());
    for plant in [
        rose,
        NewPlant::new(second, "Aloe vera".to_owned()),
        NewPlant::new(third, "🌱".to_owned()),
        NewPlant::new(third, "Ficus".to_owned()),
    ] {
        let step = format!("create {}", plant.id);
        show(&step, 200, create_payout(&plants, plant).await.map(|plant| vec![plant]));
    }
    show("list", 200, get_payout(&plants, Some(2), None).await);
    // The client gives no headers, but its connections can be used.
    let url = format!("{}/plants?limit=2", plants.base_path);
    let page = plants.client.get(url).bearer_auth(&words[1]).send().await.unwrap();
    let link = page.headers()["link"].to_str().unwrap();
    let cursor = link.split_once("cursor=").unwrap().1.split_once('>').unwrap().0;
    show("next", 200, get_payout(&plants, Some(2), Some(cursor)).await);
    show("bad cursor", 200, get_payout(&plants, None, Some("AAAAAAAAAAB")).await);
    for id in [missing, first, second, third] {
        show(&format!("delete {id}"), 204, delete_payout(&plants, id).await.map(|()| vec![]));
    }
    show("bad token", 200, get_payout(&connect(&words[0], "bad"), None, None).await);
}
