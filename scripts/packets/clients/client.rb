# A client of Ruby (Bunny) that publishes and consumes for a while and closes; all it needs is in the environment.
require "bunny"

def connected
  Bunny.new(host: ENV["HOST"], port: ENV["PORT"].to_i, user: ENV["USERNAME"], pass: ENV["PASSWORD"], heartbeat: 5).start
end

taking, giving = connected, connected
channel = taking.create_channel
channel.prefetch(50)
queue = channel.queue(ENV["QUEUE"], auto_delete: true)
queue.subscribe(manual_ack: true) { |delivery, _, _| channel.ack(delivery.delivery_tag) }
publisher = giving.create_channel
publisher.confirm_select if ENV["MODE"] == "confirms"
body = "x" * ENV["SIZE"].to_i
finish = Time.now + ENV["SECONDS"].to_f
while Time.now < finish
  publisher.default_exchange.publish(body, routing_key: ENV["QUEUE"])
  sleep ENV["PAUSE"].to_f
end
publisher.wait_for_confirms if ENV["MODE"] == "confirms"
sleep 0.3
giving.close
taking.close
