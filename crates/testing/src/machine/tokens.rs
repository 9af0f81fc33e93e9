//! OAuth 2 tokens, and brokers that trust them.

use rabbitscope_broker::Broker;
use rabbitscope_runs::scenario::ThrowawayBroker;

/// The key that signs tokens, in Erlang.
const KEY: &str = "#{<<\"kty\">> => <<\"oct\">>, <<\"k\">> => <<\"c2VjcmV0LW9mLXRoZS10ZXN0\">>}";

/// Makes a broker take tokens of [`token`].
pub fn trust_tokens(spec: &mut ThrowawayBroker) {
    spec.plugins.push("rabbitmq_auth_backend_oauth2".to_owned());
    spec.advanced_config = format!(
        "[{{rabbit, [{{auth_backends, [rabbit_auth_backend_oauth2, rabbit_auth_backend_internal]}}]}}, \
         {{rabbitmq_auth_backend_oauth2, [{{resource_server_id, <<\"rabbitmq\">>}}, {{key_config, \
         [{{default_key, <<\"k\">>}}, {{signing_keys, #{{<<\"k\">> => {{map, {KEY}}}}}}}]}}]}}]."
    );
}

/// Returns a token of the user `tester`, who may do everything, for so many seconds.
pub fn token(broker: &Broker, seconds: u32) -> String {
    // Topics have rights of their own.
    let scopes = ["configure:*/*", "write:*/*", "read:*/*", "write:*/*/*", "read:*/*/*"];
    let scopes = scopes.map(|scope| format!("<<\"rabbitmq.{scope}\">>"));
    let token = broker.eval(&format!(
        "binary_to_list(element(2, jose_jws:compact(jose_jwt:sign({KEY}, #{{<<\"alg\">> => <<\"HS256\">>, \
         <<\"kid\">> => <<\"k\">>}}, #{{<<\"aud\">> => [<<\"rabbitmq\">>], <<\"sub\">> => <<\"tester\">>, \
         <<\"exp\">> => erlang:system_time(second) + {seconds}, <<\"scope\">> => [{}]}}))))",
        scopes.join(", ")
    ));
    token.unwrap().trim_matches('"').to_owned()
}
