use llsd_tests::cluster::{Cluster, Request};

#[test]
fn the_server_answers() {
    let answer = Cluster::shared().send(Request::get("/version"));
    assert_eq!(answer.status, 200, "{answer:?}");
    println!("{}", answer.body);
    let answer = Cluster::shared().send(Request::post("/api/v1/namespaces/default/configmaps", &serde_json::json!({"metadata":{"name":"x"},"spec":{}})).dry());
    println!("{answer:?}");
}
