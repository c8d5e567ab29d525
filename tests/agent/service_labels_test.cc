#include "recorder/agent/service_labels.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

namespace heaprec::agent {
namespace {

using Labels = std::vector<format::ServiceLabel>;

}  // namespace

TEST_CASE("The option comes before OTEL_SERVICE_NAME, and that before the resource attributes") {
  const std::string attributes = "service.name=c,service.version=1.2";
  CHECK(ParseServiceLabels("a", "b", attributes) == Labels{{"service.name", "a"}, {"service.version", "1.2"}});
  CHECK(ParseServiceLabels("", "b", attributes) == Labels{{"service.name", "b"}, {"service.version", "1.2"}});
  CHECK(ParseServiceLabels("", "", attributes) == Labels{{"service.name", "c"}, {"service.version", "1.2"}});
  CHECK(ParseServiceLabels("", "", "").empty());
}

TEST_CASE("Resource attributes are percent-decoded, and only documented keys are kept") {
  CHECK(ParseServiceLabels("", "",
                           " deployment.environment.name = pre%2Cprod%20%C3%A9 ,password=secret,service.namespace=x,"
                           "service.instance.id=,service.version=%4,nothing") ==
        Labels{{"service.namespace", "x"},
               {"service.version", "%4"},
               {"deployment.environment.name", "pre,prod \xc3\xa9"}});
}

TEST_CASE("A long value ends with a whole character") {
  const Labels labels = ParseServiceLabels(std::string(254, 'a') + "\xc3\xa9", "", "");
  REQUIRE(labels.size() == 1);
  CHECK(labels[0].value == std::string(254, 'a'));
}

TEST_CASE("The variables of the process are read") {
  setenv("OTEL_SERVICE_NAME", "shop", 1);
  setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,service.namespace=web", 1);
  CHECK(ServiceLabels("") == Labels{{"service.name", "shop"}, {"service.namespace", "web"}});
  CHECK(ServiceLabels("mine").front().value == "mine");
}

}  // namespace heaprec::agent
