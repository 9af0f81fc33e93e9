// A load of Go: `client URI SECONDS`. An independent publisher of 100 messages a second with confirms that it reads
// later, and a consumer with four goroutines that need 5 to 15 ms a message and refuse every tenth.
package main

import (
	"context"
	"math/rand"
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

func open() (*amqp.Connection, *amqp.Channel) {
	connection, err := amqp.Dial(os.Args[1])
	check(err)
	channel, err := connection.Channel()
	check(err)
	return connection, channel
}

func work(deliveries <-chan amqp.Delivery) {
	for delivery := range deliveries {
		time.Sleep(time.Duration((5 + 10*rand.Float64()) * float64(time.Millisecond)))
		if rand.Intn(10) == 0 {
			_ = delivery.Nack(false, false)
		} else {
			_ = delivery.Ack(false)
		}
	}
}

func main() {
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	check(err)
	taking, consumer := open()
	_, err = consumer.QueueDeclare("jobs", true, false, false, false, nil)
	check(err)
	check(consumer.Qos(50, 0, false))
	deliveries, err := consumer.Consume("jobs", "", false, false, false, false, nil)
	check(err)
	for range 4 {
		go work(deliveries)
	}
	giving, publisher := open()
	check(publisher.Confirm(false))
	confirms := publisher.NotifyPublish(make(chan amqp.Confirmation, 1024))
	go func() {
		for range confirms {
		}
	}()
	due, end := time.Now(), time.Now().Add(time.Duration(seconds*float64(time.Second)))
	for due.Before(end) {
		time.Sleep(time.Until(due))
		message := amqp.Publishing{ContentType: "application/json", DeliveryMode: amqp.Persistent, Body: make([]byte, 700)}
		check(publisher.PublishWithContext(context.Background(), "", "jobs", false, false, message))
		due = due.Add(time.Duration(rand.ExpFloat64() * float64(time.Second) / 100))
	}
	time.Sleep(time.Second)
	check(giving.Close())
	check(taking.Close())
}
