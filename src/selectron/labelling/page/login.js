// Signing in: name and password go to the server as JSON, and a cookie comes back.
import { call } from "/page/api.js";

const form = document.getElementById("sign-in");
const problem = document.getElementById("problem");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.textContent = "";
  const name = form.elements.name.value.trim();
  const password = form.elements.password.value;
  try {
    await call("POST", "/api/v1/session", { name, password });
    location.replace("/");
  } catch (error) {
    problem.textContent = error.status ? `${error.message} ${error.remedy}` : "The server cannot be reached.";
    form.elements.password.select();
  }
});
