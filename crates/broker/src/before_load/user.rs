//! The user of a throwaway broker, made where the broker made none: with definitions to load it makes neither its
//! default user nor the virtual host.

/// Makes sure that a user takes the configured password and has the virtual host `/`, and names it in the node's
/// environment as the default user. Where the definitions have a user of that name with a password of its own, that
/// one stays as it is, and another is made. Its value is `ok`.
pub(crate) const ENSURE_LOGIN: &str = "begin \
    Env = fun(Key) -> {ok, Value} = application:get_env(rabbit, Key), iolist_to_binary(Value) end, \
    Users = [Env(default_user), <<\"rabbitscope\">>], Password = Env(default_pass), \
    Internal = rabbit_auth_backend_internal, Host = <<\"/\">>, By = <<\"rabbitscope\">>, \
    Takes = fun(User) -> \
        try element(1, Internal:user_login_authentication(User, [{password, Password}])) =:= ok \
        catch _:_ -> false end end, \
    IsFree = fun(User) -> element(1, Internal:lookup_user(User)) =/= ok end, \
    case lists:filter(Takes, Users) of \
        [User | _] -> application:set_env(rabbit, default_user, User); \
        [] -> \
            rabbit_vhost:exists(Host) orelse rabbit_vhost:add(Host, By), \
            [User | _] = lists:filter(IsFree, Users), \
            Internal:add_user(User, Password, By), \
            Internal:set_tags(User, [administrator], By), \
            Internal:set_permissions(User, Host, <<\".*\">>, <<\".*\">>, <<\".*\">>, By), \
            application:set_env(rabbit, default_user, User) \
    end, ok end";
