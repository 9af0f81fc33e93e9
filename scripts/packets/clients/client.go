// A client of Go that publishes and consumes for a while and closes; all it needs is in the environment.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func number(name string) float64 {
	value, err := strconv.ParseFloat(os.Getenv(name), 64)
	check(err)
	return value
}

func channel(address string) (*amqp.Connection, *amqp.Channel) {
	connection, err := amqp.Dial(address)
	check(err)
	channel, err := connection.Channel()
	check(err)
	return connection, channel
}

func main() {
	env := os.Getenv
	queue, confirms := env("QUEUE"), env("MODE") == "confirms"
	address := fmt.Sprintf("amqp://%s:%s@%s:%s/", env("USERNAME"), env("PASSWORD"), env("HOST"), env("PORT"))
	taking, consumer := channel(address)
	_, err := consumer.QueueDeclare(queue, false, true, false, false, nil)
	check(err)
	check(consumer.Qos(50, 0, false))
	deliveries, err := consumer.Consume(queue, "", false, false, false, false, nil)
	check(err)
	go func() {
		for delivery := range deliveries {
			_ = delivery.Ack(false)
		}
	}()
	giving, publisher := channel(address)
	if confirms {
		check(publisher.Confirm(false))
	}
	body := make([]byte, int(number("SIZE")))
	end := time.Now().Add(time.Duration(number("SECONDS") * float64(time.Second)))
	for time.Now().Before(end) {
		message := amqp.Publishing{Body: body}
		told, err := publisher.PublishWithDeferredConfirmWithContext(context.Background(), "", queue, false, false, message)
		check(err)
		if told != nil {
			told.Wait()
		}
		time.Sleep(time.Duration(number("PAUSE") * float64(time.Second)))
	}
	time.Sleep(300 * time.Millisecond)
	check(giving.Close())
	check(taking.Close())
}
